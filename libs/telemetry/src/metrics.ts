/** Metrics of the catalogue: counted and recorded where things happen, or read when they are exported. While telemetry is off, none is. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { BatchObservableCallback, Counter, Histogram } from '@opentelemetry/api';
import { type Backend, backend } from './backend.js';
import { type AttributesOf, METRICS, type MetricDeclaration, type MetricKey, type MetricOf } from './catalogue.js';

/** Instruments are made at their first use; they belong to the meter they were made by. */
const instruments = new WeakMap<Backend, Map<MetricKey, Counter | Histogram>>();

export function count<Key extends MetricOf<'counter'>>(metric: Key, attributes: AttributesOf<Key>, times = 1): void {
  const on = backend();
  if (on !== null)
    (instrument(on, metric, (meter, { name }, options) => meter.createCounter(name, options)) as Counter).add(times, attributes);
}

export function record<Key extends MetricOf<'histogram'>>(metric: Key, value: number, attributes: AttributesOf<Key>): void {
  const on = backend();
  if (on === null) return;
  const histogram = instrument(on, metric, (meter, { name, buckets }, options) =>
    meter.createHistogram(name, { ...options, advice: buckets && { explicitBucketBoundaries: [...buckets] } }),
  );
  (histogram as Histogram).record(value, attributes);
}

/** Told by a reading. */
export type Report<Keys extends MetricKey> = <Key extends Keys>(metric: Key, value: number, attributes: AttributesOf<Key>) => void;

/**
 * Reads gauges whenever they are exported. A reading that fails reports nothing this time.
 * @returns ends it.
 */
export function observe<Keys extends MetricOf<'gauge'>>(
  metrics: readonly Keys[],
  read: (report: Report<Keys>) => void | Promise<void>,
): () => void {
  const on = backend();
  if (on === null) return () => {};
  const gauges = metrics.map((key) => [key, on.meter.createObservableGauge(METRICS[key].name, optionsOf(METRICS[key]))] as const);
  const byKey = new Map(gauges);
  const callback: BatchObservableCallback = async (result) => {
    try {
      await read((key, value, attributes) => {
        const gauge = byKey.get(key);
        if (gauge) result.observe(gauge, value, attributes);
      });
    } catch {
      // Whoever cannot be read says so elsewhere; a gap in the graph is the honest reading.
    }
  };
  const all = gauges.map(([, gauge]) => gauge);
  on.meter.addBatchObservableCallback(callback, all);
  return () => on.meter.removeBatchObservableCallback(callback, all);
}

const TICK_MS = 10;

/** Delay of this process's event loop, since the last reading. */
export function observeEventLoop(): () => void {
  if (backend() === null) return () => {};
  // What is measured is the time between two ticks of a timer: an idle loop takes the interval.
  const delay = monitorEventLoopDelay({ resolution: TICK_MS });
  const seconds = (ns: number) => Math.max(0, ns / 1e9 - TICK_MS / 1e3);
  delay.enable();
  const stop = observe(['eventLoopP50', 'eventLoopP99', 'eventLoopMax'], (report) => {
    if (delay.count > 0) {
      report('eventLoopP50', seconds(delay.percentile(50)), {});
      report('eventLoopP99', seconds(delay.percentile(99)), {});
      report('eventLoopMax', seconds(delay.max), {});
    }
    delay.reset();
  });
  return () => {
    stop();
    delay.disable();
  };
}

type Options = { unit: string; description: string };

const optionsOf = ({ unit, description }: MetricDeclaration): Options => ({ unit, description });

function instrument(
  on: Backend,
  key: MetricKey,
  make: (meter: Backend['meter'], declaration: MetricDeclaration, options: Options) => Counter | Histogram,
): Counter | Histogram {
  let made = instruments.get(on);
  if (made === undefined) {
    made = new Map();
    instruments.set(on, made);
  }
  let found = made.get(key);
  if (found === undefined) {
    found = make(on.meter, METRICS[key], optionsOf(METRICS[key]));
    made.set(key, found);
  }
  return found;
}
