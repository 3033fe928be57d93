/** An adapter in the contract suite's arena: a database of its own, members in this process and in processes that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createPool } from '@countersign/database';
import { PostgresEventStore, uuidOf } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { EventBusOptions } from '../durable-event-bus.js';
import type { KafkaSettings } from '../kafka/connection/client.js';
import { KafkaEventBus } from '../kafka/kafka-event-bus.js';
import type { EventBus } from '../port.js';
import { StoreEventBus } from '../store/store-event-bus.js';
import { append, type BusArena, type MemberProcess, until } from './contract-arena.js';

/** Advisory lock that holds a commit back. */
const LATE = 4711;
const CATEGORIES = { review: 'rev', template: 'tpl' };
const LOADER = fileURLToPath(new URL('../../../testing/jest/source.mjs', import.meta.url));
const MEMBER = fileURLToPath(new URL('./contract-member.ts', import.meta.url));

/** What `testDatabase()` of the testing library answers. */
export interface ArenaDatabase {
  ownerUrl: string;
  ownerPool: Pool;
  pool: Pool;
  close(): Promise<void>;
}

export interface Arena<Bus extends EventBus> extends BusArena {
  openBus(options?: Partial<EventBusOptions>): Bus;
}

export const storeArena = (db: ArenaDatabase): Arena<StoreEventBus> => arena(db, (options) => new StoreEventBus(options), []);

export interface ArenaKafka {
  brokers: string[];
  /** Of topics no other arena has. */
  topicPrefix: string;
  /** How members in this process come to the brokers. */
  settings?: Omit<Partial<KafkaSettings>, 'brokers'>;
}

export const kafkaArena = (db: ArenaDatabase, { brokers, topicPrefix, settings }: ArenaKafka): Arena<KafkaEventBus> =>
  arena(
    db,
    (options) =>
      new KafkaEventBus({
        ...options,
        topicPrefix,
        prefixes: CATEGORIES,
        replication: -1,
        kafka: { brokers, clientId: 'arena', ...settings },
      }),
    [brokers.join(), topicPrefix],
  );

function arena<Bus extends EventBus>(db: ArenaDatabase, make: (options: EventBusOptions) => Bus, memberArguments: string[]): Arena<Bus> {
  const logger = createLogger({ service: 'contract', level: 'silent' });
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
  const buses: Bus[] = [];
  const pools: Pool[] = [];
  const members: ChildProcess[] = [];
  const appPool = (max: number) => {
    const pool = createPool({ connectionString: db.ownerUrl, role: 'countersign_app', max, applicationName: 'contract arena' });
    pools.push(pool);
    return pool;
  };

  return {
    ownerPool: db.ownerPool,
    pool: db.pool,
    store,
    openBus(options = {}) {
      const bus = make({ pool: appPool(6), store, connectionString: db.ownerUrl, logger, ...options });
      buses.push(bus);
      return bus;
    },
    async spawnMember(group): Promise<MemberProcess> {
      const child = spawn(
        process.execPath,
        [
          '--disable-warning=ExperimentalWarning',
          '--experimental-transform-types',
          '--import',
          LOADER,
          MEMBER,
          db.ownerUrl,
          group,
          ...memberArguments,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
      );
      members.push(child);
      const ended = once(child, 'exit').then(() => {});
      const ready = once(child.stdout, 'data').then(() => true);
      if (!(await Promise.race([ready, ended.then(() => false)]))) throw new Error('The member process ended before it had subscribed.');
      return { signal: (name) => void child.kill(name), ended };
    },
    /** The append is real; a deferred trigger keeps its transaction from committing for as long as the test holds a lock. */
    async appendLate(stream, types) {
      const holder = await db.ownerPool.connect();
      await holder.query(`
        create function public.commit_late() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(${LATE}); return null; end';
        create constraint trigger commits_late after insert on event_store.events deferrable initially deferred
          for each row when (new.stream = '${uuidOf(stream)}') execute function public.commit_late();
        select pg_advisory_lock(${LATE})`);
      const late = new PostgresEventStore({ pool: appPool(1), writer: 'test', categories: CATEGORIES });
      const appended = append(late, stream, types);
      await until(
        () => holder.query(`select from pg_locks where locktype = 'advisory' and objid = ${LATE} and not granted`),
        ({ rowCount }) => (rowCount ?? 0) > 0,
      );
      return {
        async commit() {
          await holder.query(`select pg_advisory_unlock(${LATE})`);
          holder.release();
          await appended;
          await late.close();
        },
      };
    },
    async close() {
      for (const member of members) {
        if (member.exitCode !== null || member.signalCode !== null) continue;
        member.kill('SIGKILL');
        await once(member, 'exit');
      }
      await Promise.all(buses.map((bus) => bus.close()));
      await store.close();
      await Promise.all(pools.map((pool) => pool.end()));
      await db.close();
    },
  };
}
