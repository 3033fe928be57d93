import { uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';
import { seal, unseal } from './sealing.js';
import { fingerprintOf, keyPrefix, RAW_KEY, tokenHash } from './tokens.js';

/**
 * The rows behind fingerprints (decision K1). A command writes its row first, then appends the event that names the fingerprint:
 *
 * R1 a row no event names is inert: nothing is checked against it, and housekeeping takes it away after a day;
 * R2 an event never names a row that is not there, whatever died in between.
 */
export async function writePassword(pool: Pool, person: string, verifier: string): Promise<string> {
  const fingerprint = fingerprintOf('password', verifier);
  await pool.query('insert into directory.passwords (person, fingerprint, verifier) values ($1, $2, $3) on conflict do nothing', [
    uuidOf(person),
    fingerprint,
    verifier,
  ]);
  return fingerprint;
}

/** Notes that a person is about to join a project: until its row says so, questions about the person look at the project's stream. */
export async function writeJoining(pool: Pool, person: string, project: string): Promise<void> {
  await pool.query('insert into directory.joining (person, project) values ($1, $2) on conflict do nothing', [
    uuidOf(person),
    uuidOf(project),
  ]);
}

/** The verifier a person's fingerprint names; null without a password. */
export async function readPassword(pool: Pool, person: string, fingerprint: string | null): Promise<string | null> {
  const { rows } = await pool.query<{ verifier: string }>(
    'select verifier from directory.passwords where person = $1 and fingerprint = $2',
    [uuidOf(person), fingerprint],
  );
  return rows[0]?.verifier ?? null;
}

/** What is kept of a raw key. @throws {Error} when it is none. */
export function keyCredential(rawKey: string): { hash: Buffer; fingerprint: string; prefix: string } {
  if (!RAW_KEY.test(rawKey)) throw new Error('An API key must be gwk_ followed by 64 lowercase hex digits.');
  const hash = tokenHash(rawKey);
  return { hash, fingerprint: fingerprintOf('api_key', hash), prefix: keyPrefix(rawKey) };
}

/** @throws {Error} when the raw key is already that of another key: keys are never shared. */
export async function writeKeyCredential(
  pool: Pool,
  key: { id: string; project: string },
  { hash, fingerprint }: { hash: Buffer; fingerprint: string },
): Promise<void> {
  const { rows } = await pool.query<{ key: string }>(
    `insert into directory.key_credentials as row (hash, fingerprint, key, project) values ($1, $2, $3, $4)
     on conflict (hash) do update set created_at = row.created_at returning key`,
    [hash, fingerprint, uuidOf(key.id), uuidOf(key.project)],
  );
  if (rows[0]?.key !== uuidOf(key.id))
    throw new Error(`The raw key given for ${key.id} is already used by another key. Generate a new one.`);
}

const secretContext = (project: string, fingerprint: string): string => `webhook secret ${fingerprint} of ${project}`;

export async function writeSecret(pool: Pool, keys: readonly Buffer[], project: string, secret: string): Promise<string> {
  const fingerprint = fingerprintOf('webhook_secret', secret);
  await pool.query('insert into directory.project_secrets (project, fingerprint, sealed) values ($1, $2, $3) on conflict do nothing', [
    uuidOf(project),
    fingerprint,
    seal(keys, secretContext(project, fingerprint), secret),
  ]);
  return fingerprint;
}

/** @throws {SealBroken} or {Error} when the secret an event names cannot be had: an operator has to act. */
export async function readSecret(pool: Pool, keys: readonly Buffer[], project: string, fingerprint: string): Promise<string> {
  const { rows } = await pool.query<{ sealed: Buffer }>(
    'select sealed from directory.project_secrets where project = $1 and fingerprint = $2',
    [uuidOf(project), fingerprint],
  );
  const sealed = rows[0]?.sealed;
  if (!sealed) {
    throw new Error(
      `The webhook secret of ${project} is missing from directory.project_secrets: restore the table from its backup, or rotate.`,
    );
  }
  return unseal(keys, secretContext(project, fingerprint), sealed);
}
