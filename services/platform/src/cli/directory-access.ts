import { APP_ROLE, createPool } from '@countersign/database';
import { type DirectoryDeps, directoryStore, type FoundProject, listProjects, type Outcome } from '@countersign/directory/administration';
import { CannotStart } from '../cannot-start.js';
import { platformConfig } from '../config.js';
import { readCredentials } from '../credentials.js';
import { readSecrets } from '../data/secrets.js';
import type { Connection } from './connection.js';
import { Refused } from './failure.js';

/** The directory's commands on this database, with the key that seals its secrets. */
export function accessDirectory(connection: Connection): DirectoryDeps {
  const { ownerUrl, dataDir, environment, logger, teardown } = connection;
  const secretsKey = environment.SECRETS_KEY?.trim() || readSecrets(dataDir)?.secrets_key;
  if (!secretsKey) throw new CannotStart(`SECRETS_KEY is not set and ${dataDir} does not contain one. Set it to the key the server uses.`);
  // Where the server was when it ran last is where it will be, as far as anybody knows.
  const publicUrl = connection.server?.url ?? readCredentials(dataDir)?.url ?? 'http://127.0.0.1:3100';
  const own = { secretsKey, publicUrl, loopback: true };
  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign cli' });
  teardown.add(() => pool.end());
  const store = directoryStore({ pool, logger });
  teardown.add(() => store.close());
  const { directory, inbox } = platformConfig(environment, own);
  return { store, pool, logger, config: { ...directory, ...inbox } };
}

/** By id or slug. */
export async function projectNamed(deps: Pick<DirectoryDeps, 'store' | 'pool'>, text: string): Promise<FoundProject> {
  const projects = await listProjects(deps);
  const found = projects.find(({ id, slug }) => id === text || slug === text);
  if (found) return found;
  const known = projects.map(({ slug }) => slug).join(', ');
  throw new Refused(`No project ${text}. ${known ? `Known projects: ${known}.` : 'Create one: countersign projects create <name>.'}`);
}

export function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Refused(`${outcome.refusal.message.replace(/\.$/, '')} (${outcome.refusal.code}).`);
}
