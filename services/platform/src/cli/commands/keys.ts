import { SCOPES, type Scope } from '@countersign/contracts';
import {
  createApiKey,
  type DirectoryDeps,
  deleteApiKey,
  type FoundProject,
  keysOf,
  lastUses,
  listProjects,
  OPERATOR,
  rotateApiKey,
  SCOPE_PRESETS,
} from '@countersign/directory/administration';
import { isId } from '@countersign/event-store';
import type { Work } from '../command.js';
import { accepted, accessDirectory, projectNamed } from '../directory-access.js';
import { Refused } from '../failure.js';
import type { KeyOptions } from '../options.js';
import { table } from '../output.js';

const shownOnce = (rawKey: string) => [`  ${rawKey}`, '  This key is shown only once.'];

export const createKeyWork =
  (options: KeyOptions): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const project = await projectNamed(deps, options.project);
    const scopes = scopesOf(options.scope ?? SCOPE_PRESETS[options.preset]);
    const { name, owner = null, expiresAt: expires_at = null, rateLimit: rate_limit_per_hour = null } = options;
    const made = accepted(await createApiKey(deps, project.id, { name, scopes, owner, expires_at, rate_limit_per_hour }, OPERATOR));
    output.answer({ id: made.id, project_id: project.id, name, scopes, raw_key: made.rawKey }, () => [
      `✓ Key ${name} of ${project.name}: ${made.id}`,
      ...shownOnce(made.rawKey),
    ]);
    return 0;
  };

export const listKeysWork =
  (named: string): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const project = await projectNamed(deps, named);
    const found = await keysOf(deps, project.id);
    const ids = found.map(({ id }) => id);
    const uses = await lastUses(deps, ids);
    const keys = found.map(({ id, key }) => ({
      id,
      name: key.name,
      prefix: key.prefix,
      scopes: key.scopes,
      is_active: key.status === 'active',
      expires_at: key.expires_at,
      last_used_at: uses.get(id) ?? null,
    }));
    output.answer({ project_id: project.id, keys }, () =>
      keys.length === 0
        ? [`${project.name} has no API keys.`]
        : table(
            ['key', 'name', 'prefix', 'active', 'expires', 'last used'],
            keys.map((key) => [key.id, key.name, key.prefix, key.is_active ? 'yes' : 'no', key.expires_at, key.last_used_at]),
          ),
    );
    return 0;
  };

export const rotateKeyWork =
  (key: string): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const { project, name } = await keyNamed(deps, key);
    const { rawKey } = accepted(await rotateApiKey(deps, { id: key, project: project.id }, OPERATOR));
    output.answer({ id: key, project_id: project.id, name, raw_key: rawKey }, () => [
      `✓ Key ${name} of ${project.name} was rotated; the old one is refused from now on.`,
      ...shownOnce(rawKey),
    ]);
    return 0;
  };

export const revokeKeyWork =
  (key: string): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const { project, name } = await keyNamed(deps, key);
    accepted(await deleteApiKey(deps, { id: key, project: project.id }, OPERATOR));
    output.answer({ id: key, project_id: project.id, name, revoked: true }, () => [
      `✓ Key ${name} of ${project.name} was revoked and is refused from now on.`,
    ]);
    return 0;
  };

/** Of whatever project: an operator has no other. */
async function keyNamed(deps: DirectoryDeps, id: string): Promise<{ project: FoundProject; name: string }> {
  const { project: of } = isId('key', id) ? await deps.store.readStream(id) : { project: null };
  const project = (await listProjects(deps)).find((one) => one.id === of);
  const found = project && (await keysOf(deps, project.id)).find((one) => one.id === id);
  if (found) return { project, name: found.key.name };
  throw new Refused(`No API key ${id}. List them: countersign keys list --project <project>.`);
}

function scopesOf(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Refused(`Unknown scope ${unknown}. Scopes: ${SCOPES.join(', ')}.`);
  return [...names] as Scope[];
}
