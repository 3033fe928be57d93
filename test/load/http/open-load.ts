/** Requests for reviews at a fixed rate, then decisions of those reviews at that rate. */
import type { Side } from '../figure.js';
import { openLoop } from '../measure/callers.js';
import type { Access } from '../stage/product.js';
import { Client } from './client.js';
import { approve, createReview } from './reviews.js';

/** More than are ever under way while it keeps up, so that nobody waits for one here. */
const CONNECTIONS = 128;

export async function start({ rate, ...access }: Access & { rate: number }): Promise<Side> {
  const client = new Client(access.url, CONNECTIONS);
  return {
    async round(seconds) {
      const ids: string[] = [];
      const created = await openLoop(rate, seconds, async () => {
        ids.push(await createReview(client, access));
      });
      const decided = await openLoop(rate, seconds, (nth) => approve(client, access, ids[nth] as string));
      return { ...created.sample('create_'), ...decided.sample('decide_') };
    },
    close: () => client.close(),
  };
}
