import { createPool } from '@countersign/database';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, PostgresEventStore, redactStream, uuidOf } from '../index.js';

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

  it('cannot put its own tables and functions in the way of the append', async () => {
    // The function runs as the owner: were names looked up in the caller's schemas, the caller could run anything as the owner.
    await db.ownerPool.query(`
      create schema evil; grant usage, create on schema evil to countersign_app;
      create function evil.sha256(bytea) returns bytea language sql as $$ select '\\x00'::bytea $$;
      create function evil.uuid_send(uuid) returns bytea language sql as $$ select '\\x00'::bytea $$`);
    const client = await db.pool.connect();
    await client.query(
      'create temporary table head (position bigint, shard integer, time timestamptz); insert into head values (900, 0, now())',
    );
    await client.query('set search_path = evil, pg_temp, pg_catalog, event_store');
    expect((await client.query("select sha256('') as hash")).rows[0].hash).toHaveLength(1);
    const before = (await store.head()).position;
    const { appendParameters, APPEND } = await import('../append/batch.js');
    const { prepare } = await import('../append/request.js');
    const request = prepare(
      { streams: [{ stream: newId('rev'), project, expectedVersion: 0, events: [{ type: 'x', body: {} }] }], meta: {} },
      { prefixes: CATEGORIES, byPrefix: new Map([['rev', 'review']]) },
    );
    const values = appendParameters({ writer: 'test', appender: '00000000-0000-4000-8000-00000000000b', batch: 1 }, [request]);
    const { rows } = await client.query({ ...APPEND, values });
    client.release(true);
    expect(rows[0].before).toBe(before);
    expect(await store.verify()).toMatchObject({ valid: true, verifiedTo: before + 1 });
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

  it('leaves no hash of an input to hold a guess against; the key stays taken', async () => {
    const [stream, other] = [newId('rev'), newId('rev')];
    const asked = (id: string, inputHash: string) =>
      store.append({
        streams: [{ stream: id, project, expectedVersion: 0, events: [{ type: 'happened', body: 1 }] }],
        meta: {},
        idempotency: { scope: 'asked', key: id === other ? 'other' : 'erased', inputHash },
      });
    for (const id of [stream, other]) expect((await asked(id, 'yes or no')).status).toBe('appended');
    await redactStream(db.ownerPool, { stream, reason: 'r' });
    expect(await store.idempotencyKey('asked', 'erased')).toEqual({ stream, version: 1, inputHash: '' });
    expect(await store.idempotencyKey('asked', 'other')).toMatchObject({ inputHash: 'yes or no' });
    for (const hash of ['yes or no', 'no or yes']) {
      expect(await asked(newId('rev'), hash)).toMatchObject({ status: 'key_reused', stream });
    }
    // A hash that an older release left behind goes too, though the bodies are gone already.
    await db.ownerPool.query(`update event_store.idempotency set input_hash = 'left' where key = 'erased'`);
    expect(await redactStream(db.ownerPool, { stream, reason: 'r' })).toBe(0);
    expect(await store.idempotencyKey('asked', 'erased')).toMatchObject({ inputHash: '' });
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
