/** Somebody who asks as fast as they are let, from many connections. What is refused or put off counts as an answer. */
import { randomUUID } from 'node:crypto';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { reviewBody } from '../http/reviews.js';
import { closedLoop } from '../measure/callers.js';
import type { Access } from '../stage/product.js';

export async function start({ connections, ...access }: Access & { connections: number }): Promise<Side> {
  const client = new Client(access.url, connections);
  return {
    async round(seconds) {
      let refused = 0;
      const sample = await closedLoop(connections, seconds, async () => {
        const { status, body } = await client.ask('POST', '/api/v1/reviews', access.key, reviewBody({ idempotency_key: randomUUID() }));
        if (status === 429 || status === 503) refused += 1;
        else if (status >= 300) throw new Error(`A request was answered ${status}: ${body.slice(0, 300)}`);
      });
      return { ...sample, refused_count: refused };
    },
    close: () => client.close(),
  };
}
