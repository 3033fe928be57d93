/**
 * Reading events back.
 *
 * R1 A page is asked for by a range of positions, closed at both ends: positions are dense, so the range bounds the work whatever the
 *    planner believes about a table that grew since it last looked.
 * R2 What was read once under the head is never joined later by an earlier position (append, A2), so a reader that goes on at the last
 *    position skips nothing.
 */
import { readJson } from '@countersign/evidence';
import type { Pool } from 'pg';
import { idOf, uuidOf } from './ids.js';
import type { DomainEvent, LoadedStream, ReadAll, StoredEvent } from './types.js';

/** In the order of COLUMNS; arrays, since a large read spends its time on making row objects otherwise. */
type EventRow = [
  position: number,
  shard: number,
  stream: string,
  category: string,
  version: number,
  id: string,
  project: string,
  bucket: number,
  type: string,
  schemaVersion: number,
  timeMs: number,
  body: string | null,
  meta: string | null,
];

const COLUMNS =
  'position, shard, stream, category, version, id, project, bucket, type, schema_version, (extract(epoch from time) * 1000)::bigint, body, meta';

const READ_STREAM = `
select (extract(epoch from n.read_at) * 1000)::bigint, e.*
from (select date_trunc('milliseconds', event_store.now()) as read_at offset 0) n
left join lateral (select ${COLUMNS} from event_store.events where stream = $1 and version <= $2 order by version) e on true`;

const FILTERS = `
shard = 0 and position > $1 and position <= $2
and ($3::text[] is null or category = any ($3)) and ($4::uuid is null or project = $4) and ($5::smallint[] is null or bucket = any ($5))`;

const READ_ALL = `select ${COLUMNS} from event_store.events where ${FILTERS} order by position limit $6`;

/** The same, cut where the JSON gets too long; the last column tells how many there were before the cut. */
const READ_ALL_BOUNDED = `
select ${COLUMNS}, matched from (
  select e.*, count(*) over () as matched, row_number() over upto as place,
         sum(coalesce(octet_length(body), 0) + coalesce(octet_length(meta), 0)) over upto as bytes
  from (select * from event_store.events where ${FILTERS} order by position limit $6) e
  window upto as (order by position rows unbounded preceding)
) page
where place = 1 or bytes <= $7
order by position`;

/** Positions looked at in one query when a filter leaves some out: first, and at most, after windows that held too little. */
const WINDOW = 10_000;
const WIDEST_WINDOW = 160_000;
const NEWEST = 2 ** 31 - 1;

export class EventReader {
  constructor(
    private readonly pool: Pool,
    private readonly prefixes: Record<string, string>,
  ) {}

  async readStream<E extends DomainEvent>(stream: string, upToVersion: number | undefined): Promise<LoadedStream<E>> {
    const { rows } = await this.pool.query<[readAtMs: number, ...EventRow]>({
      name: 'event_store.read_stream',
      rowMode: 'array',
      text: READ_STREAM,
      values: [uuidOf(stream), upToVersion ?? NEWEST],
    });
    const now = new Date(rows[0]?.[0] as number).toISOString();
    const toEvent = this.converter();
    const events: StoredEvent[] = [];
    for (const [, ...row] of rows) if (row[0] !== null) events.push(toEvent(row));
    const last = events.at(-1);
    return { events: events as StoredEvent<E>[], version: last?.version ?? 0, project: last?.project ?? null, now };
  }

  async readAll(options: ReadAll): Promise<StoredEvent[]> {
    const filtered = options.categories !== undefined || options.project !== undefined || options.bucket !== undefined;
    // Without a filter a window as wide as the page holds the page or ends at the head.
    const head = filtered ? await this.headPosition() : 0;
    const toEvent = this.converter();
    const events: StoredEvent[] = [];
    let width = filtered ? Math.max(options.limit, WINDOW) : options.limit;
    for (let after = options.after; ; ) {
      const limit = options.limit - events.length;
      const upTo = after + width;
      const { rows, cut } = await this.readRange(options, after, upTo, limit);
      for (const row of rows) events.push(toEvent(row));
      if (!filtered || cut || events.length >= options.limit || upTo >= head || (options.maxBytes !== undefined && events.length > 0))
        return events;
      after = upTo;
      width = Math.min(width * 4, Math.max(options.limit, WIDEST_WINDOW));
    }
  }

  private async readRange(options: ReadAll, after: number, upTo: number, limit: number): Promise<{ rows: EventRow[]; cut: boolean }> {
    const { categories = null, project, bucket = null, maxBytes } = options;
    const values = [after, upTo, categories, project === undefined ? null : uuidOf(project), bucket, limit];
    if (maxBytes === undefined) {
      const { rows } = await this.pool.query<EventRow>({ name: 'event_store.read_all', rowMode: 'array', text: READ_ALL, values });
      return { rows, cut: false };
    }
    const { rows } = await this.pool.query<[...EventRow, matched: number]>({
      name: 'event_store.read_all_bounded',
      rowMode: 'array',
      text: READ_ALL_BOUNDED,
      values: [...values, maxBytes],
    });
    return { rows: rows as unknown as EventRow[], cut: rows.length < (rows[0]?.[13] ?? 0) };
  }

  private async headPosition(): Promise<number> {
    const { rows } = await this.pool.query<{ position: number }>('select position from event_store.head where shard = 0');
    return (rows[0] as { position: number }).position;
  }

  /** Neighbours share streams, projects and times more often than not, so the last ones' texts are kept. */
  private converter(): (row: EventRow) => StoredEvent {
    let streamUuid = '';
    let stream = '';
    let projectUuid = '';
    let project = '';
    let ms = Number.NaN;
    let time = '';
    return (row) => {
      if (row[2] !== streamUuid) {
        streamUuid = row[2];
        stream = idOf(this.prefixes[row[3]] ?? row[3], streamUuid);
      }
      if (row[6] !== projectUuid) {
        projectUuid = row[6];
        project = idOf('prj', projectUuid);
      }
      if (row[10] !== ms) {
        ms = row[10];
        time = new Date(ms).toISOString();
      }
      return {
        position: row[0],
        shard: row[1],
        stream,
        category: row[3],
        version: row[4],
        id: idOf('evt', row[5]),
        project,
        bucket: row[7],
        type: row[8],
        schemaVersion: row[9],
        time,
        body: row[11] === null ? null : readJson(row[11]),
        redacted: row[11] === null,
        meta: row[12] === null ? {} : (readJson(row[12]) as StoredEvent['meta']),
      };
    };
  }
}
