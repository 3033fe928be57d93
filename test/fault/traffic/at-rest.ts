/** When there is nothing left to happen, what the judge says of what did. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@countersign/platform/fixture';
import type { Fault, History } from '../judge/history.js';
import { judge, sentence } from '../judge/judge.js';
import { recorded } from './recorded.js';
import type { Traffic } from './traffic.js';

/** What is still on its way after this long, in milliseconds, does not come any more. */
const PATIENCE_MS = 60_000;

/** The record once nothing is wrong with it; or as it was when nothing had changed for long enough. */
export async function atRest(traffic: Traffic): Promise<{ history: History; faults: Fault[] }> {
  const { server } = traffic;
  let seen = '';
  let deadline = 0;
  for (;;) {
    await until('everybody to have handled everything', async () => {
      const [row] = await server.topology.query<{ rest: boolean }>(
        `select (select count(*) from event_store.timers where due_at <= event_store.now() and parked_at is null) = 0
            and (select min(position) from event_bus.cursors) >= (select position from event_store.head) as rest`,
      );
      return row?.rest;
    });
    const history = await recorded(traffic);
    const faults = judge(history);
    const last = faults.map(sentence).join('\n');
    if (last !== seen) deadline = Date.now() + PATIENCE_MS;
    seen = last;
    if (faults.length === 0 || Date.now() > deadline) return { history, faults };
    // The lease of an attempt whose process was killed ends by this clock.
    await traffic.advance(10);
    await sleep(250);
  }
}
