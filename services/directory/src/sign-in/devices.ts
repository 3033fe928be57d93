import { uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';
import { newToken, tokenHash } from '../credentials/tokens.js';
import type { Client } from './client.js';

/** How long a device is known after the last sign-in there. */
const KNOWN_DEVICE_DAYS = 180;
const DEVICES_OF_A_PERSON = 20;

/**
 * Marks the device for later sign-ins of this person: strangers' failures do not count there (O1). A device that is marked already, for this
 * person or another, keeps its mark, so that a browser several people use is known for each of them. The latest 20 devices of a person are known.
 * @returns the mark, or null for a client that could not keep it.
 */
export async function rememberDevice(pool: Pool, person: string, client: Client): Promise<string | null> {
  if (!client.keepsCookies) return null;
  const token = (await knownMark(pool, client.deviceToken)) ?? newToken('csd_');
  await pool.query(
    `insert into directory.known_devices (token_hash, person, expires_at) values ($1, $2, event_store.now() + make_interval(days => $3))
     on conflict (token_hash, person) do update set expires_at = excluded.expires_at`,
    [tokenHash(token), uuidOf(person), KNOWN_DEVICE_DAYS],
  );
  await pool.query(
    `delete from directory.known_devices where person = $1
        and token_hash not in (select token_hash from directory.known_devices where person = $1 order by expires_at desc, token_hash limit $2)`,
    [uuidOf(person), DEVICES_OF_A_PERSON],
  );
  return token;
}

/** The token when it is a mark of ours. */
async function knownMark(pool: Pool, token: string | null): Promise<string | null> {
  if (token === null) return null;
  const { rows } = await pool.query(
    'select 1 from directory.known_devices where token_hash = $1 and expires_at > event_store.now() limit 1',
    [tokenHash(token)],
  );
  return rows.length > 0 ? token : null;
}
