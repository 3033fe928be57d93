import { newId, type StoredEvent } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { StoreFeed } from './store-feed.js';

const HEAVY = 'x'.repeat(3_000_000);
const eventAt = (position: number) => ({ position, stream: newId('rev'), category: 'review', type: 'review.noted', body: HEAVY });

afterEach(() => {
  jest.useRealTimers();
});

describe('StoreFeed', () => {
  it('F2 goes on at once behind a page that was cut by its bytes, though everybody has passed what is held', async () => {
    // The poll never comes: only a look without a pause can get to the end.
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    let asked = 0;
    const store = {
      head: async () => ({ position: 0, now: '2026-11-30T10:00:00.000Z' }),
      // One event fills a page.
      readAll: async ({ after }: { after: number }) => {
        asked++;
        return after < 5 ? [eventAt(after + 1) as unknown as StoredEvent] : [];
      },
    };
    const logger = createLogger({ service: 'test', level: 'silent' });
    const feed = new StoreFeed({ store, listener: { connected: true, reconnect: () => {} }, logger });
    await feed.start();
    for (let turns = 0; turns < 100 && feed.position < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(feed.position).toBe(5);
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(6);
    await feed.close();
  });
});
