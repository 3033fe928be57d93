import type { Scope } from '@countersign/contracts';
import { idOf, uuidOf } from '@countersign/event-store';
import type { DirectoryDeps } from '../deps.js';
import type { LiveKey } from '../key/key.js';
import { catchUp } from './catch-up.js';

type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

/** The columns of `directory.api_keys` that say what a key is. */
export interface KeyRow {
  id: string;
  project: string;
  status: 'active' | 'disabled';
  fingerprint: string;
  prefix: string;
  name: string;
  description: string | null;
  scopes: Scope[];
  template_ids: string[] | null;
  owner: string | null;
  former_owners: string[];
  contact: string | null;
  default_reviewer: string | null;
  rate_limit_per_hour: number | null;
  ip_allowlist: string[] | null;
  expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export const KEY_COLUMNS = [
  ...['id', 'project', 'status', 'fingerprint', 'prefix', 'name', 'description', 'scopes', 'template_ids', 'owner', 'former_owners'],
  ...['contact', 'default_reviewer', 'rate_limit_per_hour', 'ip_allowlist', 'expires_at', 'created_at', 'updated_at'],
] as const satisfies (keyof KeyRow)[];

const person = (uuid: string | null): string | null => (uuid === null ? null : idOf('per', uuid));

export function keyOfRow(row: KeyRow): LiveKey {
  return {
    status: row.status,
    project: idOf('prj', row.project),
    fingerprint: row.fingerprint,
    prefix: row.prefix,
    name: row.name,
    description: row.description,
    scopes: row.scopes,
    template_ids: row.template_ids,
    owner: person(row.owner),
    formerOwners: row.former_owners.map((uuid) => idOf('per', uuid)),
    contact: person(row.contact),
    default_reviewer: person(row.default_reviewer),
    rate_limit_per_hour: row.rate_limit_per_hour,
    ip_allowlist: row.ip_allowlist,
    expires_at: row.expires_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/**
 * The keys of a project, the oldest first. A key whose row was never saved is found by its credential, which was written before its event.
 */
export async function keysOf(deps: Deps, project: string): Promise<{ id: string; key: LiveKey }[]> {
  const { rows: behind } = await deps.pool.query<{ key: string }>(
    `select k.key from (select key from directory.key_credentials where project = $1
                        union select id from directory.api_keys where project = $1) k
       join event_store.streams s on s.stream = k.key
       left join directory.api_keys row on row.id = k.key
       left join directory.gone g on g.stream = k.key
      where s.version is distinct from coalesce(g.version, row.version)`,
    [uuidOf(project)],
  );
  await catchUp(
    deps,
    behind.map((row) => idOf('key', row.key)),
  );
  const { rows } = await deps.pool.query<KeyRow>('select * from directory.api_keys where project = $1 order by created_at, id', [
    uuidOf(project),
  ]);
  return rows.map((row) => ({ id: idOf('key', row.id), key: keyOfRow(row) }));
}
