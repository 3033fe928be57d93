import type { Sample } from '../figure.js';
import { Latencies } from './latencies.js';

/** A closed model: so many callers, each asking again as soon as it is answered, until the time is over, or one says `false`: nothing is left. */
export async function closedLoop(callers: number, seconds: number, call: (caller: number) => Promise<unknown>): Promise<Sample> {
  const latencies = new Latencies();
  const began = performance.now();
  const end = began + seconds * 1_000;
  let isLeft = true;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let now = performance.now(); isLeft && now < end; ) {
        if ((await call(caller)) === false) {
          isLeft = false;
          return;
        }
        const done = performance.now();
        latencies.add(done - now);
        now = done;
      }
    }),
  );
  return { per_s: latencies.count / ((performance.now() - began) / 1_000), ...latencies.sample() };
}

/**
 * An open model: calls begin at a fixed rate, whether or not earlier ones were answered, and what one took counts from when it was due. So
 * a pause of whoever is asked shows in every call it held up, and not only in the one it met.
 * @throws what the first call that failed threw, once all have ended.
 */
export async function openLoop(rate: number, seconds: number, call: (nth: number) => Promise<unknown>): Promise<Latencies> {
  const latencies = new Latencies();
  const calls: Promise<void>[] = [];
  const failures: unknown[] = [];
  const began = performance.now();
  const total = Math.round(rate * seconds);
  for (let nth = 0; nth < total; ) {
    const due = began + (nth / rate) * 1_000;
    const early = due - performance.now();
    if (early > 0) {
      // A timer of a millisecond is the finest there is; what it comes late counts as waiting.
      await new Promise((resolve) => setTimeout(resolve, early));
      continue;
    }
    const answered = () => latencies.add(performance.now() - due);
    calls.push(call(nth++).then(answered, (error) => void failures.push(error)));
  }
  await Promise.all(calls);
  if (failures.length > 0) throw failures[0];
  return latencies;
}
