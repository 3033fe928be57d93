import { describe, expect, it } from '@jest/globals';
import { bytesOf } from '../ids.js';
import { newId } from '../index.js';
import { BUCKETS, bucketOf, commitment, eventHash, eventHeader, NO_PREVIOUS } from './hash.js';
import { bytes, vectors } from './hash-vectors.fixture.js';

describe('the event hash', () => {
  it('is the one of the vectors, redacted or not', () => {
    expect(vectors.events.map((v) => v.redacted)).toContain(true);
    let previous: Buffer = NO_PREVIOUS;
    for (const v of vectors.events) {
      if (v.body !== null && v.body_salt !== null) expect(commitment(bytes(v.body_salt), v.body).toString('hex')).toBe(v.body_commitment);
      expect(commitment(bytes(v.meta_salt), v.meta).toString('hex')).toBe(v.meta_commitment);
      const hashed = {
        project: bytesOf(vectors.project),
        shard: vectors.shard,
        position: v.position,
        stream: bytesOf(vectors.stream),
        version: v.version,
        id: bytesOf(v.id),
        type: v.type,
        schemaVersion: v.schema_version,
        timeMicroseconds: BigInt(Date.parse(v.time)) * 1000n,
        bodyCommitment: bytes(v.body_commitment),
        metaCommitment: bytes(v.meta_commitment),
        previousHash: previous,
      };
      expect(v.previous_hash).toBe(previous.toString('hex'));
      expect(eventHeader(hashed).toString('hex')).toBe(v.header);
      previous = eventHash(hashed);
      expect(previous.toString('hex')).toBe(v.hash);
    }
  });
});

describe('buckets', () => {
  it('spread streams evenly and are the same for ever', () => {
    expect(bucketOf(bytesOf(vectors.stream))).toBe(1);
    const counts = new Array<number>(BUCKETS).fill(0);
    for (let i = 0; i < 12_000; i++) {
      const bucket = bucketOf(bytesOf(newId('rev')));
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    expect(counts).toHaveLength(BUCKETS);
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
  });
});
