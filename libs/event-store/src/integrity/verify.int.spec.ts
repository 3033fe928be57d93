import { clientConfig } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { newId, PostgresEventStore, uuidOf } from '../index.js';

const CATEGORIES = { review: 'rev', template: 'tpl' };
const project = newId('prj');
let db: TestDatabase;
let store: PostgresEventStore;

beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
});
afterAll(async () => {
  await store.close();
  await db.close();
});

async function append(stream: string, bodies: unknown[]): Promise<number> {
  const result = await store.append({
    streams: [{ stream, project, expectedVersion: 'any', events: bodies.map((body) => ({ type: 'happened', body })) }],
    meta: { actor: { kind: 'person', id: 'per_1', label: 'Anna' } },
  });
  if (result.status !== 'appended') throw new Error(result.status);
  return result.position;
}

describe('verify', () => {
  let tampering: pg.Client;
  const tamper = (sql: string, values: unknown[] = []) => tampering.query(sql, values);
  let positions: number[];
  let stream: string;
  let neighbour: string;

  // Each test tampers inside one transaction, looks, and takes it back.
  beforeEach(async () => {
    [stream, neighbour] = [newId('rev'), newId('rev')];
    positions = [];
    for (let i = 0; i < 3; i++) {
      positions.push(await append(stream, [{ amount: 100 + i }]));
      await append(neighbour, [{ amount: 1 }]);
    }
    tampering = new pg.Client(clientConfig({ connectionString: db.ownerUrl }));
    await tampering.connect();
    await tampering.query('begin; set session_replication_role = replica');
  });
  afterEach(async () => {
    await tampering.query('rollback');
    await tampering.end();
    expect((await store.verify()).valid).toBe(true);
  });

  /** Through the tampering transaction, which alone sees what it did. */
  async function verify() {
    const { verifyEvents } = await import('./verify.js');
    const progress: number[] = [];
    const report = await verifyEvents(tampering as unknown as pg.Pool, CATEGORIES, { onProgress: (done) => progress.push(done) });
    expect(progress.at(-1) ?? 0).toBeLessThanOrEqual(report.events);
    return report;
  }

  it.each<[string, string, number, string]>([
    ['a flip in a body', `update event_store.events set body = replace(body, '101', '901') where position = $1`, 1, 'the body was changed'],
    [
      'a flip in metadata',
      `update event_store.events set meta = replace(meta, 'Anna', 'Bob ') where position = $1`,
      1,
      'the metadata was changed',
    ],
    [
      'a body with its own commitment',
      `update event_store.events set body = '{}', body_commitment = sha256(body_salt || '{}'::bytea) where position = $1`,
      1,
      'its hash does not match',
    ],
    [
      'a changed hash',
      `update event_store.events set hash = set_byte(hash, 31, get_byte(hash, 31) # 1) where position = $1`,
      1,
      'its hash does not match',
    ],
    ['a short hash', `update event_store.events set hash = '\\x00' where position = $1`, 1, 'wrong size'],
    ['another type', `update event_store.events set type = 'approved' where position = $1`, 1, 'its hash does not match'],
    [
      'another time',
      `update event_store.events set time = time - interval '1 millisecond' where position = $1`,
      0,
      'its hash does not match',
    ],
    ['another project', `update event_store.events set project = gen_random_uuid() where position = $1`, 1, 'its hash does not match'],
    ['another id', `update event_store.events set id = gen_random_uuid() where position = $1`, 1, 'its hash does not match'],
    [
      'another category',
      `update event_store.events set category = 'template' where position = $1`,
      1,
      'does not match the record of its stream',
    ],
    ['another bucket', `update event_store.events set bucket = (bucket + 1) % 12 where position = $1`, 1, 'its bucket'],
    [
      'a body taken without a redaction',
      `update event_store.events set body = null, body_salt = null where position = $1`,
      1,
      'removed without a recorded redaction',
    ],
    [
      'metadata taken without a redaction',
      `update event_store.events set meta = null, meta_salt = null where position = $1`,
      1,
      'removed without a recorded redaction',
    ],
    ['a salt taken alone', `update event_store.events set body_salt = null where position = $1`, 1, 'the body was removed'],
    ['a deleted event', `delete from event_store.events where position = $1`, 1, 'the position is missing'],
    ['a deleted first event', `delete from event_store.events where position = $1`, 0, 'the position is missing'],
    [
      'a wrong version in the stream’s row',
      `update event_store.streams set version = version + 1 where stream = (select stream from event_store.events where position = $1)`,
      2,
      'does not match the record of its stream',
    ],
    [
      'a stream’s row gone',
      `delete from event_store.streams where stream = (select stream from event_store.events where position = $1)`,
      0,
      'does not match the record of its stream',
    ],
  ])('finds %s', async (_, sql, at, reason) => {
    await tamper(sql, [positions[at]]);
    const report = await verify();
    expect(report).toMatchObject({
      valid: false,
      firstBad: { position: positions[at], reason: expect.stringContaining(reason) },
      verifiedTo: (positions[at] as number) - 1,
    });
  });

  it('finds two bodies swapped, salts and commitments along', async () => {
    await tamper(
      `update event_store.events a set body = b.body, body_salt = b.body_salt, body_commitment = b.body_commitment
       from event_store.events b where a.position = any ($1) and b.position = any ($1) and a.position <> b.position`,
      [[positions[0], positions[1]]],
    );
    expect(await verify()).toMatchObject({
      valid: false,
      firstBad: { position: positions[0], stream, reason: expect.stringContaining('its hash does not match') },
    });
  });

  it('finds two positions swapped', async () => {
    await tamper('update event_store.events set position = -position where position = any ($1)', [[positions[0], positions[1]]]);
    await tamper(
      'update event_store.events set position = case -position when $1::bigint then $2::bigint else $1::bigint end where position < 0',
      [positions[0], positions[1]],
    );
    expect(await verify()).toMatchObject({ valid: false, firstBad: { position: positions[0] } });
  });

  it('finds an event moved to another stream', async () => {
    await tamper('update event_store.events set stream = $2, version = 4 where position = $1', [positions[2], uuidOf(neighbour)]);
    expect(await verify()).toMatchObject({ valid: false, firstBad: { position: positions[2] } });
  });

  it('finds the tail cut, with the streams’ rows and the head left', async () => {
    await tamper('delete from event_store.events where position > $1', [positions[2]]);
    expect(await verify()).toMatchObject({ valid: false, firstBad: { position: (positions[2] as number) + 1, stream: null } });
  });

  it('finds the tail cut and the head turned back, by the rows of the streams', async () => {
    const { rows } = await tamper('delete from event_store.events where position > $1 returning stream', [positions[2]]);
    await tamper('update event_store.head set position = $1', [positions[2]]);
    expect(rows.map((row) => row.stream)).toEqual([uuidOf(neighbour)]);
    expect(await verify()).toMatchObject({
      valid: false,
      firstBad: { position: (positions[2] as number) + 1, stream: neighbour, reason: expect.stringContaining('last event of the stream') },
    });
  });

  it('finds an event behind the head', async () => {
    const { position } = await store.head();
    await tamper('update event_store.head set position = position - 1');
    expect(await verify()).toMatchObject({ valid: false, firstBad: { position, reason: 'there is an event beyond the head of the log' } });
  });

  it('looks at a range when asked for one', async () => {
    await tamper(`update event_store.events set body = '{}' where position = $1`, [positions[0]]);
    const { verifyEvents } = await import('./verify.js');
    const range = (from: number, to: number) => verifyEvents(tampering as unknown as pg.Pool, CATEGORIES, { from, to });
    const first = positions[0] as number;
    expect(await range(first + 1, first + 3)).toMatchObject({ valid: true, verifiedFrom: first + 1, verifiedTo: first + 3, events: 3 });
    expect(await range(first - 1, first)).toMatchObject({ valid: false, firstBad: { position: first, stream } });
  });
});
