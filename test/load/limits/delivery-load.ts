/**
 * Decisions of a whole round at once, their webhooks to ten receivers, of which one may never answer. The rate is that of what the nine others
 * got, to the last of it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DomainEvent } from '@countersign/event-store';
import { until } from '@countersign/testing';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { fillLog } from '../stage/filled-log.js';
import type { Access } from '../stage/product.js';

const ENDPOINTS = 10;
const REVIEWS_PER_S = 500;

export async function start({ dead, ...access }: Access & { dead: boolean }): Promise<Side> {
  let arrived = 0;
  const servers = await Promise.all(
    Array.from({ length: ENDPOINTS }, async (_, nth) => {
      const server = createServer((request, response) => {
        if (dead && nth === 0) return;
        request.resume().on('end', () => {
          response.writeHead(200).end();
          if (nth > 0) arrived += 1;
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const hooks = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
  const client = new Client(access.url, 1);
  const model = await createReview(client, access, { callback_url: hooks[1] });
  await approve(client, access, model);
  await until(
    () => arrived,
    (n) => n > 0,
  );
  const to = (event: DomainEvent, hook: string): DomainEvent => ({ ...event, body: { ...(event.body as object), callback_url: hook } });

  return {
    async round(seconds) {
      const reviews = ENDPOINTS * Math.ceil((REVIEWS_PER_S * seconds) / ENDPOINTS);
      arrived = 0;
      const began = performance.now();
      await fillLog({
        database: access.database,
        model,
        reviews,
        vary: ([requested, ...others], nth) => [to(requested as DomainEvent, hooks[nth % ENDPOINTS] as string), ...others],
      });
      const healthy = (reviews / ENDPOINTS) * (ENDPOINTS - 1);
      await until(
        () => arrived,
        (n) => n >= healthy,
      );
      return { per_s: healthy / ((performance.now() - began) / 1_000) };
    },
    async close() {
      await client.close();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
