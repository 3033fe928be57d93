import type { AgentActor } from '@countersign/contracts';
import { idOf, isId, uuidOf } from '@countersign/event-store';
import { isAllowed } from '../credentials/addresses.js';
import { tokenHash } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { catchUp } from '../lookups/catch-up.js';
import { KEY_COLUMNS, type KeyRow, keyOfRow } from '../lookups/keys.js';

/**
 * Who holds an API key, in one indexed query: credential → key → version of the key's stream. Nothing else is asked unless the row is
 * behind its stream, or the minute in which the key was last seen is over.
 */
type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

export type KeyRefusal = 'invalid_api_key' | 'key_expired' | 'ip_not_allowed';

interface FoundKey extends KeyRow {
  /** Key of the credential; `id` and the rest are null when it has no row. */
  key: string;
  /** The credential is the one the key has now. */
  current: boolean;
  expired: boolean;
  behind: boolean;
  touch: boolean;
}

/** Named one by one: a prepared `select *` would fail as soon as a migration adds a column. */
const COLUMNS = `${KEY_COLUMNS.map((column) => `k.${column}`).join(', ')}, s.version is distinct from coalesce(g.version, k.version) and s.version is not null as behind,
  k.expires_at is not null and k.expires_at <= event_store.now() as expired,
  u.last_used_at is null or u.last_used_at < event_store.now() - interval '1 minute' as touch`;
const JOINS = `left join event_store.streams s on s.stream = c.key
  left join directory.api_keys k on k.id = c.key
  left join directory.gone g on g.stream = c.key
  left join directory.key_uses u on u.key = c.key`;
// Prepared: planning the joins costs four times what running them does, and each request of an agent begins with one.
const BY_HASH = {
  name: 'directory.key_by_hash',
  text: `select c.key, k.fingerprint is not distinct from c.fingerprint as current, ${COLUMNS} from directory.key_credentials c ${JOINS} where c.hash = $1`,
};
const BY_ID = {
  name: 'directory.keys_by_id',
  text: `select c.key, true as current, ${COLUMNS} from unnest($1::uuid[]) as c (key) ${JOINS}`,
};

async function upToDate(deps: Deps, query: { name: string; text: string }, values: unknown[]): Promise<FoundKey[]> {
  let { rows } = await deps.pool.query<FoundKey>({ ...query, values });
  const behind = rows.filter((row) => row.behind).map((row) => idOf('key', row.key));
  if (behind.length > 0) {
    await catchUp(deps, behind);
    ({ rows } = await deps.pool.query<FoundKey>({ ...query, values }));
  }
  return rows;
}

/** What has become of an API key: `active` is good for requests from an address it allows. */
export type KeyStanding = 'active' | 'disabled' | 'rotated' | 'expired' | 'deleted';

/** The standing of a raw key somebody keeps; one that was never given out counts as deleted. Looking does not count as use. */
export async function standingOf(deps: Deps, rawKey: string): Promise<KeyStanding> {
  const [row] = await upToDate(deps, BY_HASH, [tokenHash(rawKey)]);
  if (!row || row.id === null) return 'deleted';
  if (!row.current) return 'rotated';
  if (row.status !== 'active') return 'disabled';
  return row.expired ? 'expired' : 'active';
}

export async function authenticateKey(deps: Deps, rawKey: string, ip: string): Promise<AgentActor | KeyRefusal> {
  const [row] = await upToDate(deps, BY_HASH, [tokenHash(rawKey)]);
  if (!row?.current || row.id === null || row.status !== 'active') return 'invalid_api_key';
  if (row.expired) return 'key_expired';
  if (row.ip_allowlist !== null && !isAllowed(ip, row.ip_allowlist)) return 'ip_not_allowed';
  if (row.touch) await touch(deps, row.key);
  return actorOf(row);
}

/** The keys of a list that are good now, whatever address they are used from. */
export async function goodKeys(deps: Deps, ids: readonly string[]): Promise<AgentActor[]> {
  const rows = await upToDate(deps, BY_ID, [ids.filter((id) => isId('key', id)).map(uuidOf)]);
  return rows.filter((row) => row.id !== null && row.status === 'active' && !row.expired).map(actorOf);
}

function actorOf(row: FoundKey): AgentActor {
  const key = keyOfRow(row);
  return {
    kind: 'agent',
    key_id: idOf('key', row.key),
    key_prefix: key.prefix,
    name: key.name,
    project_id: key.project,
    scopes: key.scopes,
    template_ids: key.template_ids,
    owner: key.owner,
    ...(key.formerOwners.length > 0 && { former_owners: key.formerOwners }),
    contact: key.contact,
    default_reviewer: key.default_reviewer,
    rate_limit_per_hour: key.rate_limit_per_hour,
  };
}

/** At most once a minute for each key, however many processes see it used. */
async function touch(deps: Deps, key: string): Promise<void> {
  await deps.pool.query(
    `insert into directory.key_uses as row (key, last_used_at) values ($1, event_store.now())
     on conflict (key) do update set last_used_at = excluded.last_used_at where row.last_used_at < excluded.last_used_at - interval '1 minute'`,
    [key],
  );
}
