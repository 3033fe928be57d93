import type { Pool } from 'pg';
import { idOf, uuidOf } from './ids.js';
import type { DomainEvent, LoadedStream, ReadAll, StoredEvent } from './types.js';

interface EventRow {
  position: number;
  shard: number;
  stream: string;
  category: string;
  version: number;
  id: string;
  project: string;
  bucket: number;
  type: string;
  schema_version: number;
  time: Date;
  body: string | null;
  meta: string | null;
}

const COLUMNS = 'position, shard, stream, category, version, id, project, bucket, type, schema_version, time, body, meta';

export class EventReader {
  constructor(
    private readonly pool: Pool,
    private readonly prefixes: Record<string, string>,
  ) {}

  async readStream<E extends DomainEvent>(stream: string, upToVersion: number | undefined): Promise<LoadedStream<E>> {
    const { rows } = await this.pool.query<EventRow & { read_at: Date }>({
      name: 'event_store.read_stream',
      text: `select n.read_at, e.* from (select event_store.now() as read_at offset 0) n
             left join lateral (select ${COLUMNS} from event_store.events where stream = $1 and version <= $2) e on true order by e.version`,
      values: [uuidOf(stream), upToVersion ?? 2 ** 31 - 1],
    });
    const events = rows.filter((row) => row.position !== null).map((row) => this.event(row)) as StoredEvent<E>[];
    const last = events.at(-1);
    return {
      events,
      version: last?.version ?? 0,
      project: last?.project ?? null,
      now: (rows[0] as { read_at: Date }).read_at.toISOString(),
    };
  }

  async readAll(options: ReadAll): Promise<StoredEvent[]> {
    const { rows } = await this.pool.query<EventRow>({
      name: 'event_store.read_all',
      text: `select ${COLUMNS} from event_store.events
             where shard = 0 and position > $1 and ($3::text[] is null or category = any ($3))
               and ($4::uuid is null or project = $4) and ($5::smallint[] is null or bucket = any ($5))
             order by position limit $2`,
      values: [
        options.after,
        options.limit,
        options.categories ?? null,
        options.project ? uuidOf(options.project) : null,
        options.bucket ?? null,
      ],
    });
    return rows.map((row) => this.event(row));
  }

  event(row: EventRow): StoredEvent {
    return {
      position: row.position,
      shard: row.shard,
      stream: idOf(this.prefixes[row.category] ?? row.category, row.stream),
      category: row.category,
      version: row.version,
      id: idOf('evt', row.id),
      project: idOf('prj', row.project),
      bucket: row.bucket,
      type: row.type,
      schemaVersion: row.schema_version,
      time: row.time.toISOString(),
      body: row.body === null ? null : JSON.parse(row.body),
      redacted: row.body === null,
      meta: row.meta === null ? {} : JSON.parse(row.meta),
    };
  }
}
