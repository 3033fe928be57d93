/** Somebody who works at a steady pace: requests and decisions in turn, at a fixed rate. */
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { openLoop } from '../measure/callers.js';
import type { Access } from '../stage/product.js';

const CONNECTIONS = 64;

export async function start({ rate, ...access }: Access & { rate: number }): Promise<Side> {
  const client = new Client(access.url, CONNECTIONS);
  const ids: string[] = [];
  return {
    async round(seconds) {
      const latencies = await openLoop(rate, seconds, async (nth) => {
        const id = nth % 2 === 0 ? undefined : ids.shift();
        if (id === undefined) ids.push(await createReview(client, access));
        else await approve(client, access, id);
      });
      return latencies.sample();
    },
    close: () => client.close(),
  };
}
