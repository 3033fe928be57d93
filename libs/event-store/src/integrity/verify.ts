/**
 * Recomputes what the store claims about itself, in short transactions and in position order (K4, K23).
 *
 * V1 Positions are dense from the first to the head, and nothing stands behind the head.
 * V2 Each event's commitments fit its body and metadata, and its hash fits its header and its predecessor's hash.
 * V3 Each event agrees with its stream: category, project, bucket, rising versions; the stream's last event is the one the stream names.
 * V4 A missing body counts as redacted only when a later event of the stream says so.
 * What it cannot show: a rewrite of everything by the database's owner (K25).
 */
import { readJson } from '@countersign/evidence';
import type { Pool } from 'pg';
import { idOf } from '../ids.js';
import { uuidBytes } from '../typeid.js';
import type { VerifyReport } from '../types.js';
import { bucketOf, commitment, eventHash, NO_PREVIOUS } from './hash.js';
import { REDACTED } from './redact.js';

/** Positions looked at in one query, and bytes of JSON held at a time. The range is closed for the reason that reader.ts names (R1). */
const PAGE = 2_000;
const PAGE_BYTES = 16_000_000;

interface VerifyRow {
  position: number;
  stream: string;
  category: string;
  project: string;
  version: number;
  bucket: number;
  id: string;
  type: string;
  schema_version: number;
  time_us: number;
  body: string | null;
  meta: string | null;
  /** Hex of body salt, metadata salt (16 bytes each, zeros when taken), commitments, hash, predecessor's hash (32 each). */
  packed: string;
  has_body_salt: boolean;
  has_meta_salt: boolean;
  previous_position: number | null;
  stream_fits: boolean | null;
  /** Bodies of the stream's later redactions, where something is missing. */
  redactions: string[] | null;
}

const EVENTS = `
select e.position, e.stream, e.category, e.project, e.version, e.bucket, e.id, e.type, e.schema_version,
  (extract(epoch from e.time) * 1000000)::bigint as time_us, e.body, e.meta,
  encode(coalesce(e.body_salt, $3) || coalesce(e.meta_salt, $3) || e.body_commitment || e.meta_commitment || e.hash || coalesce(p.hash, ''), 'hex') as packed,
  e.body_salt is not null as has_body_salt, e.meta_salt is not null as has_meta_salt,
  p.position as previous_position,
  s.category = e.category and s.project = e.project and s.bucket = e.bucket and s.shard = e.shard
    and (e.version < s.version and e.position < s.last_position or e.version = s.version and e.position = s.last_position and e.hash = s.hash)
    and (e.version > 1 or e.position = s.first_position) as stream_fits,
  case when e.body is null or e.meta is null then array(
    select r.body from event_store.events r where r.stream = e.stream and r.version > e.version and r.type = '${REDACTED}' and r.body is not null
  ) end as redactions
from (
  select *, row_number() over upto as place, sum(coalesce(octet_length(body), 0) + coalesce(octet_length(meta), 0)) over upto as bytes
  from event_store.events where shard = 0 and position >= $1 and position <= $2
  window upto as (order by position rows unbounded preceding)
) e
left join event_store.events p on p.stream = e.stream and p.version = e.version - 1
left join event_store.streams s on s.stream = e.stream
where e.place = 1 or e.bytes <= ${PAGE_BYTES}
order by e.position`;

/** Streams whose last event is not where they say: what a deleted or moved tail leaves behind. */
const STREAMS = `
with page as (select * from event_store.streams where stream > $1 order by stream limit 10000)
select (select stream from page order by stream desc limit 1) as last, s.stream, s.category, s.last_position
from (values (1)) one left join lateral (
  select p.* from page p left join event_store.events e
    on e.shard = p.shard and e.position = p.last_position and e.stream = p.stream and e.version = p.version and e.hash = p.hash
  where e.position is null order by p.last_position limit 1) s on true`;

export interface VerifyOptions {
  from?: number;
  to?: number;
  onProgress?: (done: number, total: number) => void;
}

export async function verifyEvents(pool: Pool, prefixes: Record<string, string>, options: VerifyOptions): Promise<VerifyReport> {
  const { rows: heads } = await pool.query<{ position: number; newest: number }>(
    `select position, (select coalesce(max(position), 0) from event_store.events where shard = 0) as newest from event_store.head where shard = 0`,
  );
  const head = heads[0] as { position: number; newest: number };
  const from = Math.max(1, options.from ?? 1);
  const to = Math.min(head.position, options.to ?? head.position);
  const report: VerifyReport = { valid: true, verifiedFrom: from, verifiedTo: to, events: 0, redacted: 0, firstBad: null };
  const bad = (position: number, stream: string | null, reason: string): VerifyReport => {
    return { ...report, valid: false, verifiedTo: position - 1, firstBad: { position, stream, reason } };
  };

  let next = from;
  let lastTime = Number.NEGATIVE_INFINITY;
  let ahead = readPage(pool, next, to);
  while (next <= to) {
    const { rows } = await ahead;
    // PostgreSQL reads the next page while the hashes of this one are computed; it begins after the last of what was read.
    ahead = readPage(pool, (rows.at(-1)?.position ?? to) + 1, to);
    for (const row of rows) {
      const reason =
        row.position === next ? (row.time_us < lastTime ? 'its time is earlier than that of a previous position' : fault(row)) : null;
      if (row.position !== next) return bad(next, null, 'the position is missing');
      if (reason) return bad(row.position, idOf(prefixes[row.category] ?? 'stream', row.stream), reason);
      lastTime = row.time_us;
      report.events += 1;
      if (row.body === null) report.redacted += 1;
      next += 1;
    }
    if (rows.length === 0) return bad(next, null, 'the position is missing');
    options.onProgress?.(report.events, Math.max(0, to - from + 1));
  }
  if (options.to === undefined && head.newest > head.position)
    return bad(head.position + 1, null, 'there is an event beyond the head of the log');
  if (options.from === undefined && options.to === undefined) {
    const lost = await lostTail(pool);
    if (lost)
      return bad(lost.last_position, idOf(prefixes[lost.category] ?? 'stream', lost.stream), 'the last event of the stream is missing');
  }
  return report;
}

/** Nothing is asked where nothing is left. A page that cannot be read says so to whoever awaits it, and to nobody else. */
function readPage(pool: Pool, from: number, to: number): Promise<{ rows: VerifyRow[] }> {
  if (from > to) return Promise.resolve({ rows: [] });
  const page = pool.query<VerifyRow>({
    name: 'event_store.verify',
    text: EVENTS,
    values: [from, Math.min(to, from + PAGE - 1), Buffer.alloc(16)],
  });
  page.catch(() => {});
  return page;
}

function fault(row: VerifyRow): string | null {
  const packed = Buffer.from(row.packed, 'hex');
  const bodySalt = packed.subarray(0, 16);
  const metaSalt = packed.subarray(16, 32);
  const bodyCommitment = packed.subarray(32, 64);
  const metaCommitment = packed.subarray(64, 96);
  const stored = packed.subarray(96, 128);
  const previous = packed.subarray(128);
  if (packed.length !== (row.version > 1 ? 160 : 128)) {
    return row.version > 1 && packed.length === 128 ? 'the previous event in its stream is missing' : 'a hash or salt has the wrong size';
  }
  if (row.body === null ? !redacted(row, false) || row.has_body_salt : !row.has_body_salt)
    return 'the body was removed without a recorded redaction';
  if (row.meta === null ? !redacted(row, true) || row.has_meta_salt : !row.has_meta_salt)
    return 'the metadata was removed without a recorded redaction';
  if (row.body !== null && !commitment(bodySalt, row.body).equals(bodyCommitment)) return 'the body was changed';
  if (row.meta !== null && !commitment(metaSalt, row.meta).equals(metaCommitment)) return 'the metadata was changed';
  const stream = uuidBytes(row.stream) as Uint8Array;
  const computed = eventHash({
    project: uuidBytes(row.project) as Uint8Array,
    shard: 0,
    position: row.position,
    stream,
    version: row.version,
    id: uuidBytes(row.id) as Uint8Array,
    type: row.type,
    schemaVersion: row.schema_version,
    timeMicroseconds: BigInt(row.time_us),
    bodyCommitment,
    metaCommitment,
    previousHash: row.version > 1 ? previous : NO_PREVIOUS,
  });
  if (!computed.equals(stored)) return 'its hash does not match its header and the previous event';
  if (row.previous_position !== null && row.previous_position >= row.position) return 'an earlier version of its stream comes after it';
  if (row.bucket !== bucketOf(stream)) return 'its bucket differs from that of its stream';
  if (!row.stream_fits) return 'it does not match the record of its stream';
  return null;
}

/** Whether a redaction of the stream covers this event (and its metadata). A body that cannot be read covers nothing; it is found on its own. */
function redacted(row: VerifyRow, metadata: boolean): boolean {
  return (row.redactions ?? []).some((text) => {
    try {
      const body = readJson(text) as { through_version: number; metadata: unknown };
      return body.through_version >= row.version && (!metadata || body.metadata === true);
    } catch {
      return false;
    }
  });
}

async function lostTail(pool: Pool): Promise<{ stream: string; category: string; last_position: number } | null> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await pool.query<{ last: string | null; stream: string | null; category: string; last_position: number }>({
      name: 'event_store.verify_streams',
      text: STREAMS,
      values: [after],
    });
    const row = rows[0];
    if (row?.stream) return { stream: row.stream, category: row.category, last_position: row.last_position };
    if (!row?.last) return null;
    after = row.last;
  }
}
