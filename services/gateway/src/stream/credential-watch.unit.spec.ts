import { setImmediate as turn } from 'node:timers/promises';
import type { EventBus } from '@countersign/event-bus';
import { createLogger } from '@countersign/telemetry';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { DirectoryClient } from '../admission/directory-client.js';
import { LISTENING, type Listening, StreamClient, StreamWorld } from '../fixture/stream-world.js';
import { CredentialWatch } from './credential-watch.js';

afterEach(() => {
  jest.useRealTimers();
});

describe('CredentialWatch', () => {
  it('H4 ends the stream of a revoked key while events of the directory keep coming faster than it asks', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const world = new StreamWorld(1_000_000);
    new StreamClient(LISTENING[0] as Listening, undefined, world, true);
    expect(world.hub.readers.size).toBe(1);
    let happen = () => {};
    const bus: Pick<EventBus, 'tail'> = {
      tail: async ({ onEvents }) => {
        happen = () => onEvents([]);
        return { close: async () => {} };
      },
    };
    const directory = { actors: async () => ({ agents: [], people: [] }) } as unknown as DirectoryClient;
    const logger = createLogger({ service: 'test', level: 'silent' });
    const watch = new CredentialWatch({ hub: world.hub, directory, bus, logger, everyMs: 3_600_000 });
    await watch.start();
    for (let i = 0; i < 20 && world.hub.readers.size > 0; i++) {
      happen();
      jest.advanceTimersByTime(20);
      await turn();
    }
    expect(world.hub.readers.size).toBe(0);
    await watch.close();
  });
});
