import type { Pool } from 'pg';
import { bytesOf, idOf } from './ids.js';
import { bucketOf } from './integrity/hash.js';

/** Streams that nobody has, several for each bucket of any number in question. */
const PROBES = Array.from({ length: 200 }, (_, n) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`);

/**
 * Whether a database spreads streams over so many buckets, as this release does (K11). Where it does not, consumer groups would ask for
 * buckets that nothing is in, and never see others.
 * @param pool of a role that may call `event_store.bucket_of`.
 */
export async function hasBuckets(pool: Pick<Pool, 'query'>, buckets: number): Promise<boolean> {
  const { rows } = await pool.query<{ stream: string; bucket: number }>(
    'select stream::text, event_store.bucket_of(stream) as bucket from unnest($1::uuid[]) as stream',
    [PROBES],
  );
  return rows.every(({ stream, bucket }) => bucket === bucketOf(bytesOf(idOf('rev', stream)), buckets));
}
