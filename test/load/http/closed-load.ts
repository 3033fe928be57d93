/** So many connections that ask for reviews, then decide those reviews, each as soon as it is answered. */
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import type { Access } from '../stage/product.js';
import { Client } from './client.js';
import { approve, createReview } from './reviews.js';

export async function start({ connections, ...access }: Access & { connections: number }): Promise<Side> {
  const client = new Client(access.url, connections);
  return {
    async round(seconds) {
      const ids: string[] = [];
      const created = await closedLoop(connections, seconds, async () => {
        ids.push(await createReview(client, access));
      });
      const decided = await closedLoop(connections, seconds, async () => {
        const id = ids.pop();
        if (id === undefined) return false;
        await approve(client, access, id);
        return true;
      });
      return { ...named('create', created), ...named('decide', decided) };
    },
    close: () => client.close(),
  };
}

const named = (what: string, sample: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(sample).map(([measure, value]) => [`${what}_${measure}`, value]));
