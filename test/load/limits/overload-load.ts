/**
 * More than can be carried, in an open model, between two stretches of what can. Refusals with `Retry-After` are answers; anything else but a
 * success is not. What a call took counts from when it was due.
 */
import { randomUUID } from 'node:crypto';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { reviewBody } from '../http/reviews.js';
import { closedLoop, openLoop } from '../measure/callers.js';
import { Latencies } from '../measure/latencies.js';
import type { Access } from '../stage/product.js';

const CONNECTIONS = 1_024;
const SATURATING = 64;
const TIMES = 3;
/** Of what it can carry: what it is asked before and after. */
const EASY = 0.5;

export async function start(access: Access): Promise<Side> {
  const client = new Client(access.url, CONNECTIONS);
  const ask = () => client.ask('POST', '/api/v1/reviews', access.key, reviewBody({ idempotency_key: randomUUID() }));

  async function load(rate: number, seconds: number) {
    const accepted = new Latencies();
    let refused = 0;
    let unsaid = 0;
    let broken = 0;
    await openLoop(rate, seconds, async () => {
      const began = performance.now();
      const answer = await ask().catch(() => null);
      if (answer === null) broken += 1;
      else if (answer.status < 300) accepted.add(performance.now() - began);
      else if (answer.status === 429 || answer.status === 503) {
        refused += 1;
        if (answer.headers['retry-after'] === undefined) unsaid += 1;
      } else broken += 1;
    });
    return { accepted, refused, unsaid, broken };
  }

  return {
    async round(seconds) {
      const { per_s: most, p99_ms: saturated } = await closedLoop(SATURATING, seconds, ask);
      const before = await load((most as number) * EASY, seconds);
      const during = await load((most as number) * TIMES, seconds);
      const after = await load((most as number) * EASY, seconds);
      return {
        carried_per_s: most as number,
        saturated_p99_ms: saturated as number,
        ...before.accepted.sample('before_'),
        ...during.accepted.sample('accepted_'),
        accepted_per_s: during.accepted.count / seconds,
        ...after.accepted.sample('after_'),
        refused_count: during.refused,
        unsaid_count: during.unsaid,
        broken_count: before.broken + during.broken + after.broken,
      };
    },
    close: () => client.close(),
  };
}
