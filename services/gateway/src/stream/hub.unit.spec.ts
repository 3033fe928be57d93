import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { EventBus } from '@countersign/event-bus';
import { newId, type StoredEvent } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { describe, expect, it } from '@jest/globals';
import { requested } from '../fixture/stream.js';
import { LISTENING, type Listening, StreamClient, StreamWorld } from '../fixture/stream-world.js';
import { StreamHub } from './hub.js';

const project_id = newId('prj');

function aRequest(position: number): StoredEvent {
  return {
    ...requested(),
    stream: newId('rev'),
    project: project_id,
    version: 1,
    time: '2026-11-30T10:00:00.000Z',
    position,
    shard: 0,
    category: 'review',
    id: newId('evt'),
    bucket: 0,
    schemaVersion: 1,
    redacted: false,
    meta: {},
  };
}

/** A hub whose bus is driven by hand, so that what arrives can arrive at any moment. */
async function hubByHand() {
  let deliver: (events: StoredEvent[]) => void = () => {};
  const bus: Pick<EventBus, 'tail'> = {
    async tail({ onEvents }) {
      deliver = onEvents;
      return { async close() {} };
    },
  };
  const store = {
    head: async () => ({ position: 0, now: '2026-11-30T10:00:00.000Z' }),
    readAll: async () => [],
    readStream: async () => ({ events: [], version: 0, project: null, now: '' }),
  };
  const hub = new StreamHub({ bus, store, logger: createLogger({ service: 'test', level: 'silent' }), bufferBytes: 1_000_000 });
  await hub.start();
  let text = '';
  const response = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const actor = { kind: 'agent', key_id: newId('key'), project_id, template_ids: null, scopes: ['reviews:read'] };
  await hub.serve(actor as never, response as ServerResponse, undefined);
  return { deliver: (event: StoredEvent) => deliver([event]), told: () => text.match(/review\.created/g)?.length ?? 0, hub };
}

describe('StreamHub', () => {
  it('tells what arrives at whatever moment of telling what came before', async () => {
    for (let ticks = 0; ticks < 40; ticks++) {
      const { deliver, told, hub } = await hubByHand();
      deliver(aRequest(1));
      for (let i = 0; i < ticks; i++) await null;
      deliver(aRequest(2));
      await new Promise((resolve) => setImmediate(resolve));
      expect([ticks, told()]).toEqual([ticks, 2]);
      await hub.close();
    }
  });

  it('tells a reader that begins anew what happened between `open` and `reset`', async () => {
    const { world, close } = await worldWithHub();
    const client = new StreamClient(LISTENING[0] as Listening, 'MTIzLg', world, true);
    world.append(0, 1);
    world.deliver(1);
    await new Promise((resolve) => setImmediate(resolve));
    await world.settle([client], () => client.told().length > 2);
    expect(client.told().map(({ type }) => type)).toEqual(['open', 'reset', 'review.created']);
    await close();
  });

  it('does not count a client that left before it was let in', async () => {
    const { world, close } = await worldWithHub();
    const client = new StreamClient(LISTENING[0] as Listening, undefined, world, true);
    expect(world.hub.readers.size).toBe(1);
    client.leave();
    await world.settle([], () => world.hub.readers.size === 0);
    await world.hub.serve((LISTENING[0] as Listening).actor, client.response, undefined);
    expect(world.hub.readers.size).toBe(0);
    await close();
  });
});

async function worldWithHub() {
  const world = new StreamWorld(1_000_000);
  const started = world.hub.start();
  world.respond('answer', 0);
  await started;
  return { world, close: () => world.hub.close() };
}
