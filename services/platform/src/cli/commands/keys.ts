import { SCOPES, type Scope } from '@countersign/contracts';
import { createApiKey, OPERATOR, SCOPE_PRESETS } from '@countersign/directory/administration';
import type { Pool } from 'pg';
import type { Work } from '../command.js';
import { accepted, accessDirectory, projectNamed } from '../directory-access.js';
import { Refused } from '../failure.js';
import type { KeyOptions } from '../options.js';

export const createKeyWork =
  (options: KeyOptions): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const project = await projectNamed(deps, options.project);
    const scopes = scopesOf(options.scope ?? SCOPE_PRESETS[options.preset]);
    const { name, owner = null, expiresAt: expires_at = null, rateLimit: rate_limit_per_hour = null } = options;
    if (expires_at !== null && (await isPast(deps.pool, expires_at))) {
      throw new Refused(`--expires-at ${expires_at} is in the past: the key would be expired from the start.`);
    }
    const made = accepted(await createApiKey(deps, project.id, { name, scopes, owner, expires_at, rate_limit_per_hour }, OPERATOR));
    output.answer({ id: made.id, project_id: project.id, name, scopes, raw_key: made.rawKey }, () => [
      `✓ Key ${name} of ${project.name}: ${made.id}`,
      `  ${made.rawKey}`,
      '  This key is shown only once.',
    ]);
    return 0;
  };

/** By the clock keys expire by. What is no time at all is told elsewhere. */
async function isPast(pool: Pool, moment: string): Promise<boolean> {
  const { rows } = await pool.query<{ now: Date }>('select event_store.now() as now');
  return Date.parse(moment) <= (rows[0]?.now.getTime() ?? 0);
}

function scopesOf(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Refused(`Unknown scope ${unknown}. Scopes: ${SCOPES.join(', ')}.`);
  return [...names] as Scope[];
}
