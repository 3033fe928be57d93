import 'reflect-metadata';
import { newId, type StoredEvent } from '@countersign/event-store';
import { testDatabase } from '@countersign/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, type INestApplication, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type Arena, storeArena } from './contract/arena.js';
import { append, createEffects, effectsOf, record, until } from './contract/contract-arena.js';
import { EventBusServer, OnEvents } from './nest-strategy.js';
import { type BatchContext, Retryable } from './port.js';
import type { StoreEventBus } from './store/store-event-bus.js';

let arena: Arena<StoreEventBus>;
let app: INestApplication | undefined;
beforeEach(async () => {
  arena = storeArena(await testDatabase());
  await createEffects(arena.ownerPool);
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  await arena.close();
});

const calls: { handler: string; types: string[]; group: string }[] = [];
let failure: (events: StoredEvent[]) => void = () => {};
beforeEach(() => {
  calls.length = 0;
  failure = () => {};
});

async function handled(handler: string, events: StoredEvent[], context: BatchContext): Promise<void> {
  calls.push({ handler, types: events.map((event) => event.type), group: context.group });
  failure(events);
  await record(context.tx, context.group, handler, events, context.replay);
}

@Controller()
class Consumers {
  @OnEvents('review.requested')
  async requested(events: StoredEvent[], context: BatchContext): Promise<void> {
    await handled('requested', events, context);
  }

  @OnEvents(['review.noted', 'review.decided'])
  async settled(events: StoredEvent[], context: BatchContext): Promise<void> {
    await handled('settled', events, context);
  }

  @OnEvents('review.requested', { group: 'second' })
  async second(events: StoredEvent[], context: BatchContext): Promise<void> {
    await handled('second', events, context);
  }
}

@Controller()
class OfOneGroup {
  @OnEvents('review.requested', { group: 'first' })
  async first(events: StoredEvent[], context: BatchContext): Promise<void> {
    await handled('first', events, context);
  }

  @OnEvents('review.requested', { group: 'second' })
  async second(events: StoredEvent[], context: BatchContext): Promise<void> {
    await handled('second', events, context);
  }
}

@Controller()
class Bare {
  @EventPattern('review.requested')
  requested(_events: unknown): void {}
}

async function start(controller: Type, servers: EventBusServer[]): Promise<void> {
  class TestModule {}
  app = await NestFactory.create({ module: TestModule, controllers: [controller] }, new FastifyAdapter(), {
    logger: false,
    abortOnError: false,
  });
  for (const strategy of servers) app.connectMicroservice({ strategy });
  await app.startAllMicroservices();
}

describe('EventBusServer', () => {
  it('T1, T2 subscribes to the types of its handlers and hands over runs of consecutive events in order', async () => {
    const bus = arena.openBus();
    const stream = newId('rev');
    const types = ['review.requested', 'review.noted', 'review.decided', 'review.requested', 'review.requested', 'review.viewed'];
    const last = await append(arena.store, stream, types);
    await start(Consumers, [new EventBusServer({ bus, group: 'audit', categories: ['review'], leaves: ['review.viewed'] })]);
    expect(await bus.caughtUp('audit', last, 'all', 60_000)).toBe(true);
    expect(calls).toEqual([
      { handler: 'requested', types: ['review.requested'], group: 'audit' },
      { handler: 'settled', types: ['review.noted', 'review.decided'], group: 'audit' },
      { handler: 'requested', types: ['review.requested', 'review.requested'], group: 'audit' },
    ]);
    expect((await effectsOf(arena.pool, 'audit')).map((effect) => effect.version)).toEqual([1, 2, 3, 4, 5]);

    await append(arena.store, stream, ['review.unheard_of']);
    await until(
      () => bus.parked('audit'),
      (keys) => keys.length === 1,
    );
  });

  it('T3 a Retryable is retried, and poison parks its key: errors arrive as they were thrown', async () => {
    const bus = arena.openBus();
    await start(Consumers, [new EventBusServer({ bus, group: 'audit', categories: ['review'], leaves: [] })]);
    const stream = newId('rev');
    let tries = 0;
    failure = () => {
      if (++tries < 3) throw new Retryable('later');
    };
    let last = await append(arena.store, stream, ['review.requested']);
    expect(await bus.caughtUp('audit', last, 'all', 60_000)).toBe(true);
    expect(tries).toBe(3);
    expect(await bus.parked()).toEqual([]);

    failure = () => {
      throw new RangeError('this one never works');
    };
    last = await append(arena.store, stream, ['review.decided']);
    expect(await bus.caughtUp('audit', last, 'all', 60_000)).toBe(true);
    expect(await bus.parked()).toMatchObject([{ group: 'audit', stream, reason: 'RangeError: this one never works' }]);
    expect(await effectsOf(arena.pool, 'audit')).toHaveLength(1);
  });

  it('serves several groups from one application, each with its own handlers', async () => {
    const bus = arena.openBus();
    const options = { bus, categories: ['review'], leaves: [] };
    await start(OfOneGroup, [new EventBusServer({ ...options, group: 'first' }), new EventBusServer({ ...options, group: 'second' })]);
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    for (const group of ['first', 'second']) expect(await bus.caughtUp(group, last, 'all', 60_000)).toBe(true);
    expect(calls.map(({ handler, group }) => [handler, group]).sort()).toEqual([
      ['first', 'first'],
      ['second', 'second'],
    ]);
  });

  it('delivers nothing once the application has closed', async () => {
    const bus = arena.openBus();
    await start(Consumers, [new EventBusServer({ bus, group: 'audit', categories: ['review'], leaves: [] })]);
    await app?.close();
    app = undefined;
    const last = await append(arena.store, newId('rev'), ['review.requested']);
    expect(await bus.caughtUp('audit', last, 'all', 200)).toBe(false);
    expect(calls).toEqual([]);
  });

  it('T3 refuses a handler that Nest would hide errors of, and two handlers for one type', async () => {
    const bus = arena.openBus();
    const server = () => new EventBusServer({ bus, group: 'second', categories: ['review'], leaves: [] });
    await expect(start(Bare, [server()])).rejects.toThrow(/declare it with @OnEvents/);
    await expect(start(Consumers, [server()])).rejects.toThrow(/two handlers/);
  });
});
