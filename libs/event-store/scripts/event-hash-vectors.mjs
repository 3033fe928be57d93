// Writes contracts/vectors/event-hash.json: a stream of three events whose second was redacted by the third, with every byte that is hashed.
// Run by hand with the workspace's Node when the format changes, which means a new format word: node libs/event-store/scripts/event-hash-vectors.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import '../../testing/jest/source.mjs';

const { commitment, eventHash, eventHeader, NO_PREVIOUS } = await import('../src/integrity/hash.ts');
const { bytesOf } = await import('../src/ids.ts');

const stream = 'rev_01jf0000000000000000000000';
const project = 'prj_01jf0000000000000000000001';
const hex = (bytes) => Buffer.from(bytes).toString('hex');

const events = [
  {
    position: 41,
    type: 'review.requested',
    schema_version: 1,
    time: '2026-11-30T12:00:00.000Z',
    body: '{"payload":{"subject":"Grüße","to":["a@example.com"]},"template":"deploy"}',
    meta: '{"actor":{"id":"key_01jf0000000000000000000002","kind":"agent"}}',
  },
  {
    position: 42,
    type: 'review.decided',
    schema_version: 2,
    time: '2026-11-30T12:00:00.001Z',
    body: '{"decision":"edited","feedback":"naïve € 𝄞"}',
    meta: '{"actor":{"id":"per_01jf0000000000000000000003","kind":"person"}}',
    redacted: true,
  },
  {
    position: 1_000_000_000_007,
    type: 'stream.redacted',
    schema_version: 1,
    time: '2027-01-01T00:00:00.999Z',
    body: '{"metadata":false,"reason":"asked by the data subject","through_version":2}',
    meta: '{"actor":{"id":"owner","kind":"system"}}',
  },
];

let previousHash = NO_PREVIOUS;
const vectors = events.map((event, index) => {
  const bodySalt = Buffer.alloc(16, 0xa0 + index);
  const metaSalt = Buffer.alloc(16, 0xb0 + index);
  const id = `evt_01jf00000000000000000000e${index + 1}`;
  const bodyCommitment = commitment(bodySalt, event.body);
  const metaCommitment = commitment(metaSalt, event.meta);
  const hashed = {
    project: bytesOf(project),
    shard: 0,
    position: event.position,
    stream: bytesOf(stream),
    version: index + 1,
    id: bytesOf(id),
    type: event.type,
    schemaVersion: event.schema_version,
    timeMicroseconds: BigInt(Date.parse(event.time)) * 1000n,
    bodyCommitment,
    metaCommitment,
    previousHash,
  };
  const hash = eventHash(hashed);
  const vector = {
    id,
    version: index + 1,
    position: event.position,
    type: event.type,
    schema_version: event.schema_version,
    time: event.time,
    redacted: event.redacted === true,
    // What redaction took is null; the commitment to it stays, and so does every hash.
    body: event.redacted ? null : event.body,
    body_salt: event.redacted ? null : hex(bodySalt),
    meta: event.meta,
    meta_salt: hex(metaSalt),
    body_commitment: hex(bodyCommitment),
    meta_commitment: hex(metaCommitment),
    previous_hash: hex(previousHash),
    header: hex(eventHeader(hashed)),
    hash: hex(hash),
  };
  previousHash = hash;
  return vector;
});

const file = new URL('../../../contracts/vectors/event-hash.json', import.meta.url);
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, `${JSON.stringify({ format: 'countersign.event.1', stream, project, shard: 0, events: vectors }, null, 2)}\n`);
