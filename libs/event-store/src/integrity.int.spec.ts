import { clientConfig, createPool } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { newId, PostgresEventStore, redactStream, uuidOf } from './index.js';

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

describe('the application’s role', () => {
  it.each([
    'insert into event_store.events select * from event_store.events',
    "update event_store.events set body = '{}'",
    'delete from event_store.events',
    'truncate event_store.events',
    'update event_store.head set position = 0',
    'update event_store.streams set version = 0',
    'delete from event_store.reservations',
    "insert into event_store.idempotency values ('a', 'b', 'c', gen_random_uuid(), 'review', 1, 1, now())",
    "insert into event_store.writers values ('*', 'x', 'review')",
    "update event_store.clock set ahead = '1 day'",
    'update event_store.timers set due_at = now()',
    "select event_store.redact_stream(gen_random_uuid(), 'x')",
    'alter table event_store.events disable trigger all',
    'drop function event_store.now',
    'select * from event_store.appenders',
  ])('may not: %s', async (sql) => {
    await expect(db.pool.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('cannot put its own functions in the way of the append', async () => {
    const client = await db.pool.connect();
    // The function runs as the owner: were names looked up in the caller's schemas, the caller could run anything as the owner.
    await client.query(
      'create temporary table head (position bigint, shard integer, time timestamptz); insert into head values (900, 0, now())',
    );
    await client.query('set search_path = pg_temp, event_store, public');
    const before = (await store.head()).position;
    const { appendParameters, APPEND } = await import('./batch.js');
    const { prepare } = await import('./request.js');
    const request = prepare(
      { streams: [{ stream: newId('rev'), project, expectedVersion: 0, events: [{ type: 'x', body: {} }] }], meta: {} },
      { prefixes: CATEGORIES, byPrefix: new Map([['rev', 'review']]) },
    );
    const values = appendParameters({ writer: 'test', appender: '00000000-0000-4000-8000-00000000000b', batch: 1 }, [request]);
    const { rows } = await client.query({ ...APPEND, values });
    expect(rows[0].before).toBe(before);
    client.release(true);
  });

  it('appends as the login the deployment lists, once the list names logins', async () => {
    const url = new URL(db.ownerUrl);
    await db.ownerPool.query("create role cs_intake_login login password 'pw'; grant countersign_app to cs_intake_login");
    url.username = 'cs_intake_login';
    url.password = 'pw';
    const pool = createPool({ connectionString: url.href, role: 'countersign_app' });
    const as = (writer: string) => new PostgresEventStore({ pool, writer, categories: CATEGORIES });
    const [intake, other] = [as('intake'), as('decisions')];
    const request = () => ({
      streams: [{ stream: newId('rev'), project, expectedVersion: 0, events: [{ type: 'x', body: {} }] }],
      meta: {},
    });
    await db.ownerPool.query(
      "delete from event_store.writers where writer in ('intake', 'decisions'); insert into event_store.writers values ('cs_intake_login', 'intake', 'review'), ('somebody', 'decisions', 'review')",
    );
    expect((await intake.append(request())).status).toBe('appended');
    // It says it is another service: the login tells.
    await expect(other.append(request())).rejects.toThrow('may not append');
    await Promise.all([intake.close(), other.close()]);
    await pool.end();
    await db.ownerPool.query('drop owned by cs_intake_login; drop role cs_intake_login');
  });
});

describe('the owner', () => {
  it.each([
    "update event_store.events set body = '{}'",
    'update event_store.events set body = null, body_salt = null',
    'delete from event_store.events',
    'truncate event_store.events cascade',
  ])('is refused by a trigger: %s', async (sql) => {
    await append(newId('rev'), [1]);
    await expect(db.ownerPool.query(sql)).rejects.toThrow('Events are never changed or removed');
  });

  it('cannot change what stays under the name of a redaction', async () => {
    const stream = newId('rev');
    await append(stream, [1]);
    const client = await db.ownerPool.connect();
    await client.query("select set_config('event_store.redacting', $1, false)", [uuidOf(stream)]);
    for (const change of ["type = 'other'", "body = '{}'", "meta = '{}'", 'body = null, body_salt = null, version = 9']) {
      await expect(client.query(`update event_store.events set ${change} where stream = '${uuidOf(stream)}'`)).rejects.toThrow(
        'never changed',
      );
    }
    client.release(true);
  });
});

describe('redaction', () => {
  it('takes the bodies away, says so, and leaves everything valid', async () => {
    const [stream, other] = [newId('rev'), newId('rev')];
    await append(stream, [{ secret: 'one' }, { secret: 'two' }]);
    await append(other, [{ kept: true }]);
    const before = await store.verify();
    expect(await redactStream(db.ownerPool, { stream, reason: 'asked by "Anna" \\ \n' })).toBe(2);
    await append(stream, [{ after: 3 }]);

    const read = await store.readStream(stream);
    expect(read.events.map((e) => [e.type, e.redacted, e.body])).toEqual([
      ['happened', true, null],
      ['happened', true, null],
      ['stream.redacted', false, { metadata: false, reason: 'asked by "Anna" \\ \n', through_version: 2 }],
      ['happened', false, { after: 3 }],
    ]);
    expect(read.events[0]?.meta.actor?.label).toBe('Anna');
    expect(await store.verify()).toMatchObject({ valid: true, redacted: before.redacted + 2, events: before.events + 2, firstBad: null });
    const { rows } = await db.pool.query(
      'select body, body_salt, meta_salt is null as no_meta_salt, body_commitment from event_store.events where stream = $1 and version = 1',
      [uuidOf(stream)],
    );
    expect(rows[0]).toMatchObject({ body: null, body_salt: null, no_meta_salt: false, body_commitment: expect.any(Buffer) });
  });

  it('takes the metadata too when asked, and what came since', async () => {
    const stream = newId('rev');
    await append(stream, [1]);
    await redactStream(db.ownerPool, { stream, reason: 'r' });
    await append(stream, [2]);
    expect(await redactStream(db.ownerPool, { stream, reason: 'r', metadata: true })).toBe(2);
    expect(await redactStream(db.ownerPool, { stream, reason: 'r', metadata: true })).toBe(0);
    const { events } = await store.readStream(stream);
    expect(events.map((e) => [e.type, e.redacted, e.meta.actor?.label])).toEqual([
      ['happened', true, undefined],
      ['stream.redacted', false, undefined],
      ['happened', true, undefined],
      ['stream.redacted', false, undefined],
    ]);
    const { rows } = await db.pool.query('select body, meta from event_store.events where stream = $1 order by version desc limit 1', [
      uuidOf(stream),
    ]);
    const { canonicalize } = await import('@countersign/evidence');
    for (const text of [rows[0].body, rows[0].meta]) expect(canonicalize(JSON.parse(text))).toBe(text);
    expect((await store.verify()).valid).toBe(true);
    await expect(redactStream(db.ownerPool, { stream: newId('rev'), reason: 'r' })).rejects.toThrow('There is no stream');
  });

  it('of a stream somebody is appending to disturbs neither', async () => {
    const stream = newId('rev');
    await append(stream, [0]);
    const results = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => append(stream, [i])),
      redactStream(db.ownerPool, { stream, reason: 'r' }),
      ...Array.from({ length: 10 }, () => append(newId('rev'), [1])),
    ]);
    expect(results).toHaveLength(21);
    expect((await store.verify()).valid).toBe(true);
  });
});

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
    [
      'a flip in a body',
      `update event_store.events set body = replace(body, '101', '901') where position = $1`,
      1,
      'the body is not the one',
    ],
    [
      'a flip in metadata',
      `update event_store.events set meta = replace(meta, 'Anna', 'Bob ') where position = $1`,
      1,
      'the metadata is not the one',
    ],
    [
      'a body with its own commitment',
      `update event_store.events set body = '{}', body_commitment = sha256(body_salt || '{}'::bytea) where position = $1`,
      1,
      'its hash does not fit',
    ],
    [
      'a changed hash',
      `update event_store.events set hash = set_byte(hash, 31, get_byte(hash, 31) # 1) where position = $1`,
      1,
      'its hash does not fit',
    ],
    ['a short hash', `update event_store.events set hash = '\\x00' where position = $1`, 1, 'wrong size'],
    ['another type', `update event_store.events set type = 'approved' where position = $1`, 1, 'its hash does not fit'],
    [
      'another time',
      `update event_store.events set time = time - interval '1 millisecond' where position = $1`,
      0,
      'its hash does not fit',
    ],
    ['another project', `update event_store.events set project = gen_random_uuid() where position = $1`, 1, 'its hash does not fit'],
    ['another id', `update event_store.events set id = gen_random_uuid() where position = $1`, 1, 'its hash does not fit'],
    ['another category', `update event_store.events set category = 'template' where position = $1`, 1, 'the row of its stream'],
    ['another bucket', `update event_store.events set bucket = (bucket + 1) % 12 where position = $1`, 1, 'its bucket'],
    [
      'a body taken without a redaction',
      `update event_store.events set body = null, body_salt = null where position = $1`,
      1,
      'gone without a redaction',
    ],
    [
      'metadata taken without a redaction',
      `update event_store.events set meta = null, meta_salt = null where position = $1`,
      1,
      'gone without a redaction',
    ],
    ['a salt taken alone', `update event_store.events set body_salt = null where position = $1`, 1, 'the body is gone'],
    ['a deleted event', `delete from event_store.events where position = $1`, 1, 'the position is missing'],
    ['a deleted first event', `delete from event_store.events where position = $1`, 0, 'the position is missing'],
    [
      'a wrong version in the stream’s row',
      `update event_store.streams set version = version + 1 where stream = (select stream from event_store.events where position = $1)`,
      2,
      'the row of its stream',
    ],
    [
      'a stream’s row gone',
      `delete from event_store.streams where stream = (select stream from event_store.events where position = $1)`,
      0,
      'the row of its stream',
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
      firstBad: { position: positions[0], stream, reason: expect.stringContaining('its hash does not fit') },
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
    expect(await verify()).toMatchObject({ valid: false, firstBad: { position, reason: 'an event stands behind the head' } });
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
