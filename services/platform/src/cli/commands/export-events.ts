import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { idOf, uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';

/** Events a page; each page is a short transaction of its own, so an export holds nothing back however long it takes (K23). */
const PAGE = 1_000;

interface ExportRow {
  position: number;
  shard: number;
  stream: string;
  category: string;
  version: number;
  bucket: number;
  id: string;
  project: string;
  type: string;
  schema_version: number;
  time: Date;
  body: string | null;
  meta: string | null;
  body_salt: string | null;
  meta_salt: string | null;
  body_commitment: string;
  meta_commitment: string;
  hash: string;
}

const COLUMNS = `position, shard, stream, category, version, bucket, id, project, type, schema_version, time, body, meta,
  encode(body_salt, 'hex') as body_salt, encode(meta_salt, 'hex') as meta_salt,
  encode(body_commitment, 'hex') as body_commitment, encode(meta_commitment, 'hex') as meta_commitment, encode(hash, 'hex') as hash`;

/**
 * Writes events in position order, one JSON object a line, with everything their hashes were taken over: `body` and `meta` are JSON strings
 * holding the exact canonical text (null once redacted), salts, commitments and hashes lowercase hex.
 * @param range positions, both ends included.
 * @returns how many were written.
 */
export async function exportEvents(
  pool: Pool,
  out: Writable,
  range: { from: number; to: number; project?: string },
  onProgress: (done: number) => void,
): Promise<number> {
  const project = range.project === undefined ? null : uuidOf(range.project);
  let written = 0;
  for (let after = range.from - 1; ; ) {
    const { rows } = await pool.query<ExportRow>(
      `select ${COLUMNS} from event_store.events
       where shard = 0 and position > $1 and position <= $2 and ($3::uuid is null or project = $3) order by position limit $4`,
      [after, range.to, project, PAGE],
    );
    const last = rows.at(-1);
    if (!last) return written;
    if (!out.write(rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join(''))) await once(out, 'drain');
    written += rows.length;
    after = last.position;
    onProgress(after - range.from + 1);
  }
}

function lineOf(row: ExportRow): Record<string, unknown> {
  return {
    ...row,
    stream: idOf(CATEGORY_PREFIXES[row.category as keyof typeof CATEGORY_PREFIXES] ?? row.category, row.stream),
    id: idOf('evt', row.id),
    project: idOf('prj', row.project),
    time: row.time.toISOString(),
  };
}
