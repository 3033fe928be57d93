import { createHash } from 'node:crypto';
import { inTransaction } from '@countersign/database';
import { uuidOf } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import { networkOf } from '../credentials/addresses.js';
import { FORGET_AFTER_SECONDS, lockSeconds } from '../credentials/lockout.js';
import { newToken, tokenHash } from '../credentials/tokens.js';
import { emailKey } from '../person/email.js';
import { NOBODY } from '../person/nobody.js';
import type { Client } from './client.js';

/** Counting of failed sign-ins; lockout.ts says by what rules and why. */
export interface Attempt {
  account: Buffer;
  source: string;
  /** Seconds until the account opens again for this source; 0 = it is open. */
  lockedSeconds: number;
}

const KNOWN_DEVICE_DAYS = 180;
const DEVICES_OF_A_PERSON = 20;

const accountOf = (email: string): Buffer => createHash('sha256').update(emailKey(email)).digest();

/** The device when it presents a token of this person, else the network it calls from. Asked for nobody, it costs the same. */
async function sourceOf(pool: Pool, person: string | null, client: Client): Promise<string> {
  const hash = tokenHash(client.deviceToken ?? '');
  const { rows } = await pool.query(
    'select 1 from directory.known_devices where token_hash = $1 and person = $2 and expires_at > event_store.now()',
    [hash, uuidOf(person ?? NOBODY)],
  );
  return rows.length > 0 ? `device:${hash.toString('hex').slice(0, 32)}` : `network:${networkOf(client.ip)}`;
}

/** Counts an attempt before its password is looked at. A locked source is told how long, and not counted. */
export async function countAttempt(pool: Pool, email: string, person: string | null, client: Client): Promise<Attempt> {
  const account = accountOf(email);
  const source = await sourceOf(pool, person, client);
  const lockedSeconds = await inTransaction(pool, async (tx) => {
    await tx.query(
      `insert into directory.login_failures (account, source, failures, last_failure_at) values ($1, $2, 0, event_store.now())
       on conflict do nothing`,
      [account, source],
    );
    const { rows } = await tx.query<{ failures: number; locked: number; forgotten: boolean }>(
      `select failures, greatest(0, extract(epoch from locked_until - event_store.now()))::float8 as locked,
              last_failure_at < event_store.now() - make_interval(secs => $3) as forgotten
         from directory.login_failures where account = $1 and source = $2 for update`,
      [account, source, FORGET_AFTER_SECONDS],
    );
    const row = rows[0];
    if (row && row.locked > 0) return row.locked;
    const failures = row && !row.forgotten ? row.failures + 1 : 1;
    await writeFailures(tx, account, source, failures);
    return 0;
  });
  return { account, source, lockedSeconds };
}

async function writeFailures(tx: PoolClient, account: Buffer, source: string, failures: number): Promise<void> {
  const seconds = lockSeconds(failures);
  await tx.query(
    `update directory.login_failures set failures = $3, last_failure_at = event_store.now(),
       locked_until = case when $4::integer > 0 then event_store.now() + make_interval(secs => $4) end
      where account = $1 and source = $2`,
    [account, source, failures, seconds],
  );
}

/** The password was right: the source starts afresh. */
export async function forgetFailures(pool: Pool, attempt: Attempt): Promise<void> {
  await pool.query('delete from directory.login_failures where account = $1 and source = $2', [attempt.account, attempt.source]);
}

/**
 * Marks the device for later sign-ins of this person; a device that is marked already keeps its mark. The latest 20 devices are known.
 * @returns the mark, or null for a client that could not keep it.
 */
export async function rememberDevice(pool: Pool, person: string, client: Client): Promise<string | null> {
  if (!client.keepsCookies) return null;
  const { rowCount } = await pool.query(
    `update directory.known_devices set expires_at = event_store.now() + make_interval(days => $3)
      where token_hash = $1 and person = $2 and expires_at > event_store.now()`,
    [tokenHash(client.deviceToken ?? ''), uuidOf(person), KNOWN_DEVICE_DAYS],
  );
  if (rowCount === 1) return client.deviceToken;
  const token = newToken('csd_');
  await pool.query(
    `insert into directory.known_devices (token_hash, person, expires_at) values ($1, $2, event_store.now() + make_interval(days => $3))`,
    [tokenHash(token), uuidOf(person), KNOWN_DEVICE_DAYS],
  );
  await pool.query(
    `delete from directory.known_devices where person = $1
        and token_hash not in (select token_hash from directory.known_devices where person = $1 order by expires_at desc, token_hash limit $2)`,
    [uuidOf(person), DEVICES_OF_A_PERSON],
  );
  return token;
}
