/** The store adapter in the contract suite's arena: a database of its own, members in this process and in processes that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createPool } from '@countersign/database';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { BusArena, MemberProcess } from './contract-arena.js';
import { StoreEventBus } from './store-event-bus.js';

const CATEGORIES = { review: 'rev', template: 'tpl' };
const LOADER = fileURLToPath(new URL('../../testing/jest/source.mjs', import.meta.url));
const MEMBER = fileURLToPath(new URL('./contract-member.ts', import.meta.url));

export interface StoreArena extends BusArena {
  openBus(options?: { drainMs?: number; pool?: Pool }): StoreEventBus;
}

/** @param db what `testDatabase()` of the testing library answers. */
export function storeArena(db: { ownerUrl: string; ownerPool: Pool; pool: Pool; close(): Promise<void> }): StoreArena {
  const logger = createLogger({ service: 'contract', level: 'silent' });
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES });
  const buses: StoreEventBus[] = [];
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
      const bus = new StoreEventBus({ pool: appPool(6), store, connectionString: db.ownerUrl, logger, ...options });
      buses.push(bus);
      return bus;
    },
    async spawnMember(group): Promise<MemberProcess> {
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', '--experimental-transform-types', '--import', LOADER, MEMBER, db.ownerUrl, group],
        { stdio: ['ignore', 'pipe', 'inherit'], env: {} },
      );
      members.push(child);
      const ended = once(child, 'exit').then(() => {});
      const ready = once(child.stdout, 'data').then(() => true);
      if (!(await Promise.race([ready, ended.then(() => false)]))) throw new Error('The member process ended before it had subscribed.');
      return { signal: (name) => void child.kill(name), ended };
    },
    async appendLate(stream, types) {
      const pool = appPool(1);
      const tx = await pool.connect();
      await tx.query('begin');
      // The store's append, inside a transaction that ends when the test likes: its connection is never given back.
      const pinned = new Proxy(tx, {
        get(target, name) {
          const member: unknown = name === 'release' ? () => {} : Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
      const held = { connect: async () => pinned } as unknown as Pool;
      const late = new PostgresEventStore({ pool: held, writer: 'test', categories: CATEGORIES });
      const events = types.map((type) => ({ type, body: {} }));
      const result = await late.append({ streams: [{ stream, project: newId('prj'), expectedVersion: 0, events }], meta: {} });
      if (result.status !== 'appended') throw new Error(`append answered ${result.status}`);
      return {
        async commit() {
          await tx.query('commit');
          await late.close();
          tx.release();
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
