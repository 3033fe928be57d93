import { createHash } from 'node:crypto';
import { inTransaction } from '@countersign/database';
import { uuidOf } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import { networkOf } from '../credentials/addresses.js';
import {
  ACCOUNT,
  ADDRESS,
  addressLockSeconds,
  FORGET_ADDRESS_SECONDS,
  FORGET_OWN_SECONDS,
  type Level,
  ownLockSeconds,
  waitSeconds,
} from '../credentials/lockout.js';
import { tokenHash } from '../credentials/tokens.js';
import { emailKey } from '../person/email.js';
import { NOBODY } from '../person/nobody.js';
import type { Client } from './client.js';

/**
 * Counting of failed sign-ins; lockout.ts says by what rules and why (O1–O7).
 *
 * Rows are locked in one order: the account's level, the address's, the source. So attempts wait for each other and never deadlock.
 */
export interface Source {
  /** SHA-256 of the e-mail address that was typed. */
  account: Buffer;
  name: string;
  /** `own`: only the person can present it (O1). `busy`: an address that failed a lot lately (O3); `open`: any other. */
  kind: 'own' | 'busy' | 'open';
}

export type Admission = 'admitted' | { code: 'account_locked' | 'too_many_attempts'; retryAfterSeconds: number };

const accountOf = (email: string): Buffer => createHash('sha256').update(emailKey(email)).digest();
/** SQL of what is left of a level. @param perSecond the parameter that says how fast it falls. */
const levelNow = (perSecond: string): string =>
  `greatest(0, level - greatest(0, extract(epoch from event_store.now() - at)::float8) * ${perSecond}::float8)`;
const accountLevel = (account: Buffer): string => `account:${account.toString('hex')}`;

/** Where a password comes from. Asked for nobody, it costs the same. @param from.session of this person, in which the password is given again. */
export async function sourceOf(
  pool: Pool,
  email: string,
  person: string | null,
  from: { client: Client; session?: string },
): Promise<Source> {
  const account = accountOf(email);
  if (from.session !== undefined) return { account, name: `session:${from.session}`, kind: 'own' };
  const device = tokenHash(from.client.deviceToken ?? '');
  const address = `address:${networkOf(from.client.ip)}`;
  const { rows } = await pool.query<{ known: boolean; level: number | null }>(
    `select exists (select from directory.known_devices where token_hash = $1 and person = $2 and expires_at > event_store.now()) as known,
            (select ${levelNow('$4')} from directory.guess_levels where counter = $3) as level`,
    [device, uuidOf(person ?? NOBODY), address, ADDRESS.perSecond],
  );
  if (rows[0]?.known) return { account, name: `device:${device.toString('hex').slice(0, 32)}`, kind: 'own' };
  return { account, name: address, kind: (rows[0]?.level ?? 0) > ADDRESS.bound ? 'busy' : 'open' };
}

/** Counts an attempt before its password is looked at (O6). One that is refused is told how long, and not counted. */
export function countAttempt(pool: Pool, source: Source): Promise<Admission> {
  return inTransaction(pool, async (tx) => {
    const levels = source.kind === 'own' ? null : await levelsOf(tx, source);
    const { failures, locked } = await lockSource(tx, source);
    if (locked > 0) return { code: 'account_locked', retryAfterSeconds: locked };
    const wait = levels ? waitSeconds(levels.account, ACCOUNT) : 0;
    if (wait > 0) return { code: 'too_many_attempts', retryAfterSeconds: wait };
    if (levels) {
      await setLevel(tx, accountLevel(source.account), levels.account + 1);
      await setLevel(tx, source.name, Math.min(levels.address + 1, 2 * ADDRESS.bound));
    }
    await tx.query(
      `update directory.login_failures set failures = $3, last_failure_at = event_store.now(),
         locked_until = case when $4::integer > 0 then event_store.now() + make_interval(secs => $4) end
        where account = $1 and source = $2`,
      [
        source.account,
        source.name,
        failures + 1,
        levels ? addressLockSeconds(failures + 1, levels.address + 1) : ownLockSeconds(failures + 1),
      ],
    );
    return 'admitted';
  });
}

/** The password was right: the source starts afresh, and what the attempt took elsewhere is given back. */
export async function forgetFailures(pool: Pool, source: Source): Promise<void> {
  await pool.query('delete from directory.login_failures where account = $1 and source = $2', [source.account, source.name]);
  if (source.kind === 'own') return;
  for (const counter of [accountLevel(source.account), source.name]) {
    await pool.query('update directory.guess_levels set level = greatest(0, level - 1) where counter = $1', [counter]);
  }
}

/** Opens an account to every source again (O5). @returns how many were closed. */
export async function clearFailures(pool: Pool, email: string): Promise<number> {
  const account = accountOf(email);
  await pool.query('delete from directory.guess_levels where counter = $1', [accountLevel(account)]);
  const { rows } = await pool.query<{ closed: boolean }>(
    'delete from directory.login_failures where account = $1 returning coalesce(locked_until > event_store.now(), false) as closed',
    [account],
  );
  return rows.filter(({ closed }) => closed).length;
}

async function levelsOf(tx: PoolClient, source: Source): Promise<{ account: number; address: number }> {
  const account = await lockLevel(tx, accountLevel(source.account), ACCOUNT);
  return { account, address: await lockLevel(tx, source.name, ADDRESS) };
}

/** What is left of a level at this moment. */
async function lockLevel(tx: PoolClient, counter: string, { perSecond }: Level): Promise<number> {
  await tx.query('insert into directory.guess_levels (counter, level, at) values ($1, 0, event_store.now()) on conflict do nothing', [
    counter,
  ]);
  const { rows } = await tx.query<{ level: number }>(
    `select ${levelNow('$2')} as level from directory.guess_levels where counter = $1 for update`,
    [counter, perSecond],
  );
  return rows[0]?.level ?? 0;
}

async function setLevel(tx: PoolClient, counter: string, level: number): Promise<void> {
  await tx.query('update directory.guess_levels set level = $2, at = event_store.now() where counter = $1', [counter, level]);
}

/** Failures of a source that still count, and how many seconds it is closed for. */
async function lockSource(tx: PoolClient, source: Source): Promise<{ failures: number; locked: number }> {
  const { account, name, kind } = source;
  await tx.query(
    `insert into directory.login_failures (account, source, failures, last_failure_at) values ($1, $2, 0, event_store.now())
     on conflict do nothing`,
    [account, name],
  );
  const { rows } = await tx.query<{ failures: number; locked: number; forgotten: boolean }>(
    `select failures, greatest(0, coalesce(extract(epoch from locked_until - event_store.now()), 0))::float8 as locked,
            last_failure_at <= event_store.now() - make_interval(secs => $3) as forgotten
       from directory.login_failures where account = $1 and source = $2 for update`,
    [account, name, kind === 'own' ? FORGET_OWN_SECONDS : FORGET_ADDRESS_SECONDS],
  );
  const row = rows[0];
  return { failures: row && !row.forgotten ? row.failures : 0, locked: row?.locked ?? 0 };
}
