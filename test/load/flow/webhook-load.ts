/**
 * Decisions at a fixed rate, and the receiver of what is told of them. What a webhook took counts from the time the decision has in the log
 * (the database's, rounded down to a millisecond) to the end of its signed body here; the clocks are the machine's one.
 */

import { Receiver, until, verifyStandard } from '@countersign/testing';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { closedLoop, openLoop } from '../measure/callers.js';
import { Latencies } from '../measure/latencies.js';
import type { Access } from '../stage/product.js';

const CONNECTIONS = 64;
const ASKING = 8;

export async function start({ rate, secret, ...access }: Access & { rate: number; secret: string }): Promise<Side> {
  const client = new Client(access.url, CONNECTIONS);
  const receiver = await new Receiver().listen();
  let took = new Latencies();
  let forged = 0;
  const hook = receiver.url('/hook', (request, response) => {
    const now = Date.now();
    response.writeHead(200).end();
    if (request.json.type !== 'review.decided') return;
    took.add(now - Date.parse(String(request.json.decided_at)));
    try {
      verifyStandard(request, secret);
    } catch {
      forged += 1;
    }
  });
  return {
    async round(seconds) {
      const count = Math.round(rate * seconds);
      const ids: string[] = [];
      let left = count;
      await closedLoop(ASKING, Number.POSITIVE_INFINITY, async () => {
        if (left-- <= 0) return false;
        ids.push(await createReview(client, access, { callback_url: hook }));
        return true;
      });
      took = new Latencies();
      receiver.received.length = 0;
      const decided = await openLoop(rate, seconds, (nth) => approve(client, access, ids[nth] as string));
      await until(
        () => took.count,
        (arrived) => arrived >= count,
      );
      if (forged > 0) throw new Error(`${forged} webhooks bore a signature that does not match.`);
      return { ...took.sample(), ...decided.sample('decide_') };
    },
    async close() {
      await client.close();
      await receiver.close();
    },
  };
}
