import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bytesOf } from '../ids.js';
import { newId, PostgresEventStore, uuidOf } from '../index.js';
import { bucketOf, commitment, eventHash, NO_PREVIOUS } from './hash.js';
import { bytes, vectors } from './hash-vectors.fixture.js';

let db: TestDatabase;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.close());

describe('the event hash', () => {
  it('is taken by the database as the vectors have it', async () => {
    for (const v of vectors.events) {
      const { rows } = await db.ownerPool.query(
        `select encode(event_store.event_hash($1, $2, $3, $4, $5, $6, $7, $8, (extract(epoch from $9::timestamptz) * 1000000)::bigint, $10, $11, $12), 'hex') as hash`,
        [
          ...[
            uuidOf(vectors.project),
            vectors.shard,
            v.position,
            uuidOf(vectors.stream),
            v.version,
            uuidOf(v.id),
            v.type,
            v.schema_version,
            v.time,
          ],
          ...[bytes(v.body_commitment), bytes(v.meta_commitment), bytes(v.previous_hash)],
        ],
      );
      expect(rows[0].hash).toBe(v.hash);
    }
  });

  it('of what an append stored is the same when recomputed from its row', async () => {
    const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: { review: 'rev' } });
    const [stream, project] = [newId('rev'), newId('prj')];
    const events = [1, 2, 3].map((n) => ({ type: `größe.${n}`, schemaVersion: n, body: { n, text: '𝄞' } }));
    await store.append({ streams: [{ stream, project, expectedVersion: 0, events }], meta: { request_id: 'req_1' } });
    await store.append({ streams: [{ stream, project, expectedVersion: 3, events: events.slice(0, 1) }], meta: {} });
    await store.close();
    const { rows } = await db.pool.query(
      'select *, (extract(epoch from time) * 1000000)::bigint as us from event_store.events where stream = $1 order by version',
      [uuidOf(stream)],
    );
    expect(rows).toHaveLength(4);
    let previous: Uint8Array = NO_PREVIOUS;
    const salts = new Set<string>();
    for (const row of rows) {
      expect(row.body_salt).toHaveLength(16);
      salts.add(row.body_salt.toString('hex')).add(row.meta_salt.toString('hex'));
      expect(commitment(row.body_salt, row.body)).toEqual(row.body_commitment);
      expect(commitment(row.meta_salt, row.meta)).toEqual(row.meta_commitment);
      expect(row.bucket).toBe(bucketOf(bytesOf(stream)));
      const hash = eventHash({
        project: bytesOf(project),
        stream: bytesOf(stream),
        id: Buffer.from(row.id.replaceAll('-', ''), 'hex'),
        shard: row.shard,
        position: row.position,
        version: row.version,
        type: row.type,
        schemaVersion: row.schema_version,
        timeMicroseconds: BigInt(row.us),
        bodyCommitment: row.body_commitment,
        metaCommitment: row.meta_commitment,
        previousHash: previous,
      });
      expect(hash).toEqual(row.hash);
      previous = hash;
    }
    expect(salts.size).toBe(8);
  });
});
