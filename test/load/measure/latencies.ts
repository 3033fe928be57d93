import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

const NS_PER_MS = 1e6;
/** An hour: nothing here waits longer. */
const LONGEST_NS = 3_600_000 * NS_PER_MS;

/** Durations, kept to three figures (an HDR histogram in nanoseconds), however many there are. */
export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({ lowest: 1, highest: LONGEST_NS, figures: 3 });

  /** @param ms negative ones, which a clock that was set back makes, count as nothing. */
  add(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * NS_PER_MS)));
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** @param prefix of the measures' names, such as `wait_`. */
  sample(prefix = ''): Record<string, number> {
    const ms = (share: number) => this.#histogram.percentile(share) / NS_PER_MS;
    return { [`${prefix}p50_ms`]: ms(50), [`${prefix}p99_ms`]: ms(99), [`${prefix}longest_ms`]: this.#histogram.max / NS_PER_MS };
  }
}
