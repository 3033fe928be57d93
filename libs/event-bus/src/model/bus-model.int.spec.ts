/**
 * Schema `event_bus` against the model of it that simulations run on: both are asked the same, one after the other, in the bus's own words.
 * What one transaction has locked and another waits for is not here: row locks are PostgreSQL's word.
 */

import { randomUUID } from 'node:crypto';
import { inTransaction } from '@countersign/database';
import { MemoryPool, mirror, RowLocks } from '@countersign/database/model';
import { newId, PostgresEventStore, type StoredEvent } from '@countersign/event-store';
import { MemoryLog } from '@countersign/event-store/model';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Pool, PoolClient } from 'pg';
import { Holdings } from '../groups/holdings.js';
import { type GroupLease, LEASE_MS } from '../groups/leases.js';
import { loadParked, releaseRequested, releaseState, requestRelease, writeParks, writeReleased } from '../groups/parking.js';
import { readRelayed } from '../kafka/relayed.js';
import { BusModel, busStatements } from './model.js';

const CATEGORIES = { review: 'rev' };
const MEMBERS = 3;
const EVENTS = 12;

let db: TestDatabase;
let store: PostgresEventStore;
let run = 0;
const log = new MemoryLog({ categories: CATEGORIES, now: () => Date.now() });

beforeAll(async () => {
  db = await testDatabase();
  store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
  for (let i = 0; i < EVENTS; i++) {
    const stream = i % 3 === 2 ? (log.events[i - 1] as StoredEvent).stream : newId('rev');
    const project = log.readStream(stream).project ?? newId('prj');
    const request = { streams: [{ stream, project, expectedVersion: 'any' as const, events: [{ type: 't', body: { i } }] }], meta: {} };
    await store.append(request);
    log.append(request);
  }
});
afterAll(async () => {
  await store.close();
  await db.close();
});

/** Without ids and times each side made for itself. */
const bare = ({ uuid: _, ms: __, ageMs: ___, ...row }: Record<string, unknown>): unknown => row;

const BEAT = { name: 'event_bus.beat', text: `select * from event_bus.beat($1, $2, $3 * interval '1 millisecond', $4)` };

const member = fc.nat(MEMBERS - 1);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('beat' as const), member }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('handle' as const),
      member,
      commit: fc.boolean(),
      park: fc.option(fc.nat(EVENTS - 1)),
      unknown: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('give back' as const, 'give all back' as const, 'adopt' as const, 'reread' as const, 'leave' as const),
      member,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('dies' as const, 'lapses' as const), member }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('seek' as const, 'pause' as const, 'resume' as const), member }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('ask' as const, 'release' as const, 'release in part' as const),
      member,
      of: fc.nat(EVENTS - 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('hold relay' as const, 'relayed' as const, 'give relay back' as const), member }),
  },
);

interface Member {
  id: string;
  holdings: Holdings;
  lease: GroupLease | null;
  session: number;
  lock: PoolClient;
}

interface World {
  pool: Pool;
  group: string;
  bus: BusModel;
  members: Member[];
}

async function newWorld(): Promise<World> {
  run += 1;
  const group = `group ${run}`;
  const bus = new BusModel({ wallClock: () => Date.now(), notify: () => {} });
  const reach = async <T>(_: string, work: () => T): Promise<T> => work();
  const memory = new MemoryPool({ statements: busStatements(bus, log), locks: new RowLocks(), reach });
  const pool = mirror(db.pool, memory, bare);
  await db.ownerPool.query('delete from event_bus.relays; delete from event_bus.members');
  // As DurableEventBus makes a group.
  await pool.query(
    `with known as (
         insert into event_bus.groups (name, categories) values ($1, $2)
         on conflict (name) do update set categories = excluded.categories where groups.categories <> excluded.categories returning name)
       select count(*) from known`,
    [group, ['review']],
  );
  await pool.query(
    `insert into event_bus.cursors (group_name, bucket, position) select $1, generate_series(0, $2::int - 1), $3 on conflict do nothing`,
    [group, 12, 0],
  );
  const members: Member[] = [];
  for (let n = 0; n < MEMBERS; n++) {
    const session = run * 10 + n;
    const lock = await db.pool.connect();
    await lock.query('select pg_advisory_lock(event_bus.session_class(), $1)', [session]);
    bus.sessions.add(session);
    const id = randomUUID();
    members.push({ id, holdings: new Holdings({ pool, group, member: id }), lease: null, session, lock });
  }
  return { pool, group, bus, members };
}

async function play(world: World, one: typeof step extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const { pool, group, bus } = world;
  const it = world.members[one.member] as Member;
  const giveBack = async (buckets: number[] | null) =>
    void (await pool.query('select event_bus.give_back($1, $2, $3)', [group, it.id, buckets]));
  switch (one.do) {
    case 'beat':
      it.lease = (await pool.query<GroupLease>({ ...BEAT, values: [it.id, [group], LEASE_MS, it.session] })).rows[0] as GroupLease;
      return;
    case 'adopt':
      if (it.lease) await it.holdings.adopt(it.lease.owned);
      return;
    case 'reread':
      return it.holdings.reread();
    case 'give back':
      return giveBack([0, 5]);
    case 'give all back':
      return giveBack(null);
    case 'leave':
      await pool.query('delete from event_bus.subscriptions where group_name = $1 and member = $2', [group, it.id]);
      return giveBack(null);
    case 'dies':
      await it.lock.query('select pg_advisory_unlock_all()');
      bus.sessions.delete(it.session);
      return;
    case 'lapses': {
      await db.ownerPool.query("update event_bus.members set lease_until = clock_timestamp() - interval '1 second' where id = $1", [it.id]);
      const row = bus.members.get(it.id);
      if (row) row.leaseUntil = Date.now() - 1_000;
      return;
    }
    case 'seek':
      await pool.query('select event_bus.seek($1, $2) as found', [group, 3]);
      return;
    case 'pause':
    case 'resume':
      await pool.query(`select event_bus.set_paused($1, ${one.do === 'pause'}) as found`, [group]);
      return;
    case 'handle':
      return handleBatch(world, it.holdings, one);
    case 'ask':
    case 'release':
    case 'release in part':
      return releaseKey(world, one);
    default:
      return relay(world, one.do, it.id, it.session);
  }
}

async function handleBatch(
  { pool, group }: World,
  holdings: Holdings,
  one: { commit: boolean; park: number | null; unknown: boolean },
): Promise<void> {
  const work = async (tx: PoolClient) => {
    const event = one.park === null ? undefined : log.events[one.park];
    if (event) await writeParks(tx, group, [{ event, reason: 'no', unknownType: one.unknown, replayUntil: 0 }]);
    await holdings.advance(tx, holdings.all(), (event?.position ?? EVENTS) - (one.unknown ? 1 : 0));
    if (!one.commit) throw new Error('crash');
  };
  await inTransaction(pool, work).catch((error: Error) => {
    if (error.message !== 'crash') throw error;
  });
}

async function releaseKey({ pool, group }: World, one: { do: string; of: number }): Promise<void> {
  const { stream } = log.events[one.of] as StoredEvent;
  if (one.do === 'ask') await requestRelease(pool, group, stream);
  else {
    const done = one.do === 'release';
    await inTransaction(pool, (tx) => writeReleased(tx, group, stream, { position: one.of + 1, replayed: 1, done }));
  }
  await releaseRequested(pool, group, stream);
  await releaseState(pool, group, stream);
}

async function relay({ pool }: World, what: string, owner: string, session: number): Promise<void> {
  const epochs = { text: 'update event_bus.relays set owner = null where shard = $1 and owner = $2 and epoch = $3', values: [0, owner, 1] };
  if (what === 'give relay back') await pool.query(epochs.text, epochs.values);
  else if (what === 'relayed') {
    const text = 'update event_bus.relays set position = $1 where shard = $2 and owner = $3 and epoch = $4';
    await pool.query({ name: 'event_bus.relayed', text, values: [5, 0, owner, 1] });
    await readRelayed(pool, CATEGORIES, { shard: 0, after: 4, limit: 6, maxBytes: 20 });
  } else await holdRelay(pool, owner, session);
}

/** With a reach of 4 events. */
const holdRelay = async (pool: Pool, owner: string, session: number | null) =>
  (
    await pool.query<{ epoch: number; position: number }>({
      name: 'event_bus.hold_relay',
      text: `select epoch, position from event_bus.hold_relay($1::smallint, $2, $3, $4 * interval '1 millisecond', $5)`,
      values: [0, owner, session, 5_000, 4],
    })
  ).rows[0];

it('is asked by the bus’s own code, and answers as its model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const world = await newWorld();
      try {
        for (const one of steps) await play(world, one);
        const buckets = Array.from({ length: 12 }, (_, bucket) => bucket);
        await loadParked(world.pool, world.group, buckets);
      } finally {
        for (const { lock } of world.members) lock.release(true);
      }
      const { rows } = await db.pool.query(
        'select bucket, position, replay_until as "replayUntil", owner, epoch from event_bus.cursors where group_name = $1 order by bucket',
        [world.group],
      );
      expect(rows).toEqual(world.bus.cursors.get(world.group));
    }),
    { numRuns: 40 },
  );
});

it('moves a relay to the head where it changes hands too far behind, never under the process that runs it', async () => {
  await db.ownerPool.query('delete from event_bus.relays');
  const [first, second] = [randomUUID(), randomUUID()];
  expect(await holdRelay(db.pool, first, null)).toEqual({ epoch: 1, position: EVENTS });
  const at = (position: number) => db.pool.query('update event_bus.relays set position = $1', [position]);
  await at(1);
  expect(await holdRelay(db.pool, first, null)).toEqual({ epoch: 1, position: 1 });
  expect(await holdRelay(db.pool, second, null)).toBeUndefined();
  await db.pool.query('update event_bus.relays set owner = null');
  expect(await holdRelay(db.pool, second, null)).toEqual({ epoch: 2, position: EVENTS });
  await at(EVENTS - 4);
  await db.pool.query('update event_bus.relays set owner = null');
  expect(await holdRelay(db.pool, first, null)).toEqual({ epoch: 3, position: EVENTS - 4 });
});
