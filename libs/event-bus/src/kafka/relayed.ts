/** Events as the store holds them, for the wire: bodies and metadata stay the texts they are. */
import { idOf } from '@countersign/event-store';
import type { Pool } from 'pg';
import type { RelayedEvent } from './message.js';

/** With its age in milliseconds of database time. */
export type ReadEvent = RelayedEvent & { ageMs: number };

type Row = Omit<ReadEvent, 'stream' | 'id' | 'project' | 'time'> & { streamUuid: string; uuid: string; projectUuid: string; ms: number };

/** In position order; cut where `maxBytes` of bodies are reached, with one event at least. */
export async function readRelayed(
  pool: Pool,
  prefixes: Readonly<Record<string, string>>,
  { shard, after, limit, maxBytes }: { shard: number; after: number; limit: number; maxBytes: number },
): Promise<ReadEvent[]> {
  const { rows } = await pool.query<Row>({
    name: 'event_bus.relayed_page',
    text: `
      select position, shard, stream as "streamUuid", category, version, id as uuid, project as "projectUuid", bucket, type,
             schema_version as "schemaVersion", (extract(epoch from time) * 1000)::float8 as ms, body, meta,
             (extract(epoch from event_store.now() - time) * 1000)::float8 as "ageMs"
      from (
        select e.*, sum(least(coalesce(octet_length(body), 0), 262144)) over (order by position) - least(coalesce(octet_length(body), 0), 262144) as before
        from (select * from event_store.events where shard = $1 and position > $2 order by position limit $3) e) p
      where before = 0 or before < $4 order by position`,
    values: [shard, after, limit, maxBytes],
  });
  return rows.map(({ streamUuid, uuid, projectUuid, ms, ...row }) => ({
    ...row,
    stream: idOf(prefixes[row.category] ?? row.category, streamUuid),
    id: idOf('evt', uuid),
    project: idOf('prj', projectUuid),
    time: new Date(ms).toISOString(),
  }));
}
