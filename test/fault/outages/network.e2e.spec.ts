/** What lies between the product and its PostgreSQL, broken in every way networks break. */
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Which } from '../proxy.js';
import { Traffic } from '../traffic/traffic.js';
import { type BehindProxy, startBehindProxy } from './behind-proxy.js';
import { outage } from './outage.js';

jest.setTimeout(300_000);

const LISTENS: Which = ({ opening }) => opening.includes('countersign listener');

let product: BehindProxy;
beforeAll(async () => {
  product = await startBehindProxy();
  await Traffic.prepare(product.server);
});
afterAll(() => product?.stop());

describe('connections to PostgreSQL', () => {
  it.each<[string, string, number | 'answer']>([
    ['in the middle of an append', 'event_store.append', 60],
    ['between an append and its answer, in its COMMIT', 'event_store.append', 'answer'],
    ['before the COMMIT of a transaction has arrived', 'commit', 8],
    ['between a COMMIT and its answer', 'commit', 'answer'],
  ])('cut %s, again and again, leave nothing lost, doubled or half done', async (_, words, at) => {
    await outage(product.server, async ({ recorder }) => {
      for (let times = 0; times < 4; times++) {
        await product.proxy.cut(words, at);
        await recorder.moves(5);
      }
    });
  });

  it.each<[string, (product: BehindProxy) => void]>([
    ['reset', ({ proxy }) => proxy.reset()],
    ['closed by half', ({ proxy }) => proxy.halfClose()],
  ])('all %s under load are made again', async (_, fault) => {
    await outage(product.server, async ({ recorder }) => {
      for (let times = 0; times < 3; times++) {
        fault(product);
        await recorder.moves(10);
      }
    });
  });

  it('that are slow are waited for', async () => {
    const refused = await outage(product.server, async ({ recorder }) => {
      product.proxy.latency(20);
      await recorder.moves(40);
      product.proxy.heal();
    });
    expect(refused).toBe(0);
  });

  it('forgotten by a firewall, all of them without a word, are given up and made again', async () => {
    await outage(product.server, async () => {
      expect(product.proxy.blackhole()).toBeGreaterThan(5);
    });
  });

  it('that nobody answers, old or new, have every caller told to come again, and nothing waits on them afterwards', async () => {
    const refused = await outage(product.server, async ({ recorder }) => {
      product.proxy.blackhole(undefined, 'new');
      await until('everybody to be refused', () => recorder.unanswered >= 4);
      product.proxy.heal();
    });
    expect(refused).toBeGreaterThanOrEqual(4);
  });

  it('that listen and hear nothing any more are found out by what the poll finds, and nobody notices', async () => {
    const refused = await outage(product.server, async () => {
      const deaf = product.proxy.open(LISTENS);
      expect(product.proxy.blackhole(LISTENS)).toBe(1);
      await until('another to listen', () => product.proxy.open(LISTENS).some((link) => !deaf.includes(link)));
    });
    expect(refused).toBe(0);
  });
});
