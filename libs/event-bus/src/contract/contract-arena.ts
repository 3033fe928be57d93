/** What the contract suite needs of an adapter, and the tools its scenarios share. Runs under jest and in the member processes it starts. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EventStore, newId, type StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import type { BatchContext, EventBus, Subscription } from '../port.js';

/** A database, a store and an adapter over them. The store knows the categories `review` (`rev_…`) and `template` (`tpl_…`). */
export interface BusArena {
  ownerPool: Pool;
  pool: Pool;
  store: EventStore;
  /** A member of the bus as another process would be; the arena closes it. */
  openBus(): EventBus;
  /** A process of its own that runs `runMember` until it is killed. Resolves once it has subscribed. */
  spawnMember(group: string): Promise<MemberProcess>;
  /** An append whose transaction is held open, head lock and all, until `commit` is called. */
  appendLate(stream: string, types: string[]): Promise<{ commit(): Promise<void> }>;
  close(): Promise<void>;
}

export interface MemberProcess {
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process is gone. */
  ended: Promise<void>;
}

export interface Effect {
  member: string;
  stream: string;
  position: number;
  version: number;
  type: string;
  replay: boolean;
}

const project = newId('prj');

/** Where handlers leave their mark. Nothing in it is unique, so that a double effect shows. */
export async function createEffects(owner: Pool): Promise<void> {
  await owner.query(`
    create table effects (n bigserial primary key, group_name text, member text, stream text, position bigint, version int, type text, replay boolean);
    create table gates (name text primary key);
    grant select, insert on effects, gates to countersign_app;
    grant usage on sequence effects_n_seq to countersign_app`);
}

export async function record(tx: PoolClient, group: string, member: string, events: StoredEvent[], replay: boolean): Promise<void> {
  for (const event of events) {
    await tx.query(
      'insert into effects (group_name, member, stream, position, version, type, replay) values ($1, $2, $3, $4, $5, $6, $7)',
      [group, member, event.stream, event.position, event.version, event.type, replay],
    );
  }
}

export async function effectsOf(db: Pool, group: string): Promise<Effect[]> {
  const { rows } = await db.query<Effect>(
    'select member, stream, position, version, type, replay from effects where group_name = $1 order by n',
    [group],
  );
  return rows;
}

export async function append(store: EventStore, stream: string, types: string[], body: unknown = {}): Promise<number> {
  const result = await store.append({
    streams: [{ stream, project, expectedVersion: 'any', events: types.map((type) => ({ type, body })) }],
    meta: {},
  });
  if (result.status !== 'appended') throw new Error(`append answered ${result.status}`);
  return result.position;
}

/** What this process really holds, after a collection. */
export function heldMegabytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** Polls a condition; what it saw last is in the error. */
export async function until<T>(look: () => Promise<T> | T, holds: (seen: T) => boolean, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain; last seen: ${JSON.stringify(seen)?.slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export const HANDLED = ['review.requested', 'review.noted', 'review.decided'];

/** A subscription over reviews whose effects land in the table; `before` may throw, wait or look. */
export function recording(
  group: string,
  options: Partial<Subscription> & {
    member?: string;
    before?: (events: StoredEvent[], context: BatchContext) => Promise<void> | void;
  } = {},
): Subscription {
  const { member = 'here', before, ...subscription } = options;
  return {
    group,
    categories: ['review'],
    handles: HANDLED,
    leaves: ['review.viewed'],
    async onBatch(events, context) {
      await before?.(events, context);
      await record(context.tx, group, member, events, context.replay);
    },
    ...subscription,
  };
}

/**
 * A member in a process of its own. A body can tell it what to do once its effect is written and not yet committed:
 * `{ "crash": true }` to die on the spot, `{ "gate": "name" }` to wait until that gate is open.
 */
export async function runMember(bus: EventBus, db: Pool, group: string, member: string): Promise<void> {
  await bus.subscribe({
    ...recording(group),
    async onBatch(events, context) {
      await record(context.tx, group, member, events, context.replay);
      for (const event of events) {
        const { crash, gate } = event.body as { crash?: boolean; gate?: string };
        if (crash) process.kill(process.pid, 'SIGKILL');
        if (gate) {
          await db.query('insert into gates values ($1) on conflict do nothing', [`${gate} reached`]);
          await until(
            () => db.query('select from gates where name = $1', [gate]),
            ({ rowCount }) => rowCount === 1,
            60_000,
          );
        }
      }
    },
  });
}

/** Checks that every event of each stream took effect exactly once and in order. */
export function expectOnceInOrder(effects: Effect[], streams: Map<string, number>): void {
  for (const [stream, count] of streams) {
    const versions = effects.filter((effect) => effect.stream === stream).map((effect) => effect.version);
    expect(versions).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  }
  expect(effects).toHaveLength([...streams.values()].reduce((sum, count) => sum + count, 0));
}
