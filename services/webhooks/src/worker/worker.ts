/**
 * Sends what is due. Any number of workers, in any number of processes; none leads.
 *
 * D1 At least once: a delivery is claimed under a lease, attempted, and its result written down. Whoever dies between leaves a lease that
 *    ends, and another attempt follows with the same id and bytes.
 * D2 In order within a review, since only its head can be claimed (queue/queue.ts).
 * D3 A slow or dead endpoint keeps only its own share of the attempts busy (queue/queue.ts).
 * D4 Where the secrets cannot be had, nothing is sent: the attempt is taken back and costs the delivery nothing.
 * D5 After `close()` nothing is sent; attempts that do not end in time are broken off and are due at once for whoever comes next.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '@countersign/egress';
import { idOf } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { WebhookConfig } from '../config.js';
import { type RecorderDeps, recordOutcomes } from '../outcome/recorder.js';
import { type Claimed, claim, type Settlement, settle } from '../queue/queue.js';
import { requeueLeftBehind } from '../queue/requeue.js';
import { dropOldBodies } from '../queue/retention.js';
import { type Sender, send } from './attempt.js';
import { type Listening, listenForDue } from './due-listener.js';
import { observedAttempt } from './observed-attempt.js';
import { SecretsUnavailable } from './secrets.js';
import { Signal } from './signal.js';
import { judge } from './verdict.js';

export interface WorkerDeps extends RecorderDeps {
  pool: Pool;
  sender: Sender;
  config: WebhookConfig;
  logger: Logger;
}

/** How long a delivery waits that could not be attempted for a reason of ours. */
const POSTPONED_MS = 1_000;
/** Pause after the database failed. */
const TROUBLE_MS = 1_000;
/** Tries to write results while the process stops. */
const CLOSING_ATTEMPTS = 10;

export class Worker {
  readonly #deps: WorkerDeps;
  readonly #woken = new Signal();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #results: { settlement: Settlement; until: number; written: () => void }[] = [];
  #writing: Promise<void> = Promise.resolve();
  readonly #ended = new Signal();
  /** Deliveries this process has brought to an end and not recorded yet. */
  #unrecorded: string[] = [];
  #claiming: Promise<void> = Promise.resolve();
  #recording: Promise<void> = Promise.resolve();
  #listening: Listening | null = null;
  #closing = false;
  #drained = false;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#listening = listenForDue(this.#deps, () => this.#woken.notify());
    this.#claiming = this.#claimLoop();
    this.#recording = this.#recordLoop();
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#woken.notify();
    const late = setTimeout(() => this.#stop.abort(), this.#deps.config.drain);
    await this.#claiming;
    await Promise.all([...this.#running]);
    clearTimeout(late);
    this.#drained = true;
    this.#ended.notify();
    await this.#recording;
    await this.#listening?.close();
  }

  async #claimLoop(): Promise<void> {
    const { pool, config, logger } = this.#deps;
    while (!this.#closing) {
      const capacity = config.concurrency - this.#running.size;
      let claimed: Claimed[] = [];
      try {
        if (capacity > 0) claimed = await claim(pool, capacity, config);
      } catch (error) {
        logger.warn({ err: error }, 'due deliveries could not be claimed, retrying');
        await this.#woken.wait(TROUBLE_MS);
      }
      for (const one of claimed) this.#track(this.#closing ? this.#written({ claimed: one, postponedMs: 0 }) : this.#attempt(one));
      if (claimed.length === 0) await this.#woken.wait(config.poll);
    }
  }

  #track(attempt: Promise<void>): void {
    this.#running.add(attempt);
    void attempt.finally(() => {
      this.#running.delete(attempt);
      this.#woken.notify();
    });
  }

  async #attempt(claimed: Claimed): Promise<void> {
    const about = {
      delivery_id: idOf('whd', claimed.id),
      review_id: idOf('rev', claimed.review),
      project_id: idOf('prj', claimed.project),
      request_id: claimed.request_id ?? undefined,
      event_type: claimed.event_type,
      origin: URL.parse(claimed.url)?.origin,
      attempt: claimed.attempts,
    };
    await this.#written(await observedAttempt(claimed, () => this.#outcome(claimed, about)));
  }

  async #outcome(claimed: Claimed, about: object): Promise<Settlement> {
    const { sender, config, logger } = this.#deps;
    const place = claimed.attempts - claimed.attempts_apart;
    try {
      const exchange = await send(sender, claimed, { signal: this.#stop.signal });
      const verdict = judge(exchange, place, config, Math.random());
      const { status, failure, latencyMs } = exchange;
      const told = { status_code: status, failure: failure?.code, stage: failure?.stage, latency_ms: latencyMs, outcome: verdict.next };
      logger.info({ ...about, ...told, ...('delayMs' in verdict ? { retry_in_ms: verdict.delayMs } : {}) }, 'delivery attempted');
      return { claimed, exchange, verdict };
    } catch (error) {
      if (error instanceof SecretsUnavailable) {
        logger.warn({ ...about, err: error }, 'delivery not attempted');
        return { claimed, postponedMs: POSTPONED_MS };
      }
      // Counted like any failed attempt, or a delivery that trips over a fault of ours would be tried without end.
      logger.error({ ...about, err: error }, 'attempt failed with an internal error');
      const exchange = faultOfOurs();
      return { claimed, exchange, verdict: judge(exchange, place, config, Math.random()) };
    }
  }

  /** Results that come in while others are being written go together in the next transaction. */
  #written(settlement: Settlement): Promise<void> {
    const until = performance.now() + this.#deps.config.lease;
    return new Promise((resolve) => {
      this.#results.push({ settlement, until, written: resolve });
      if (this.#results.length === 1) this.#writing = this.#writing.then(() => this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    const { pool, config, logger } = this.#deps;
    const taken = this.#results.splice(0);
    for (let attempt = 1; ; attempt++) {
      try {
        const ended = await settle(
          pool,
          taken.map((one) => one.settlement),
          config,
        );
        this.#unrecorded.push(...ended);
        break;
      } catch (error) {
        // Past its lease a delivery is somebody else's again, who will send it once more: at least once.
        const givenUp = taken.every((one) => one.until < performance.now()) || (this.#closing && attempt >= CLOSING_ATTEMPTS);
        logger.warn({ err: error, results: taken.length, given_up: givenUp }, 'results of attempts could not be written');
        if (givenUp) break;
        await sleep(this.#closing ? 100 : TROUBLE_MS);
      }
    }
    for (const one of taken) one.written();
    this.#ended.notify();
  }

  async #recordLoop(): Promise<void> {
    const { logger, pool, config } = this.#deps;
    let swept = Number.NEGATIVE_INFINITY;
    for (;;) {
      // Read before the pass: the last one begins when everything has ended.
      const last = this.#drained;
      const ids = this.#unrecorded.splice(0);
      try {
        if (ids.length > 0) await recordOutcomes(this.#deps, { ids });
        if (performance.now() - swept >= config.sweep) {
          await recordOutcomes(this.#deps, 'left_behind');
          await requeueLeftBehind(pool, config);
          await dropOldBodies(pool, config.keepBodies);
          swept = performance.now();
        }
      } catch (error) {
        // What was not recorded is found again by a sweep, here or elsewhere.
        logger.warn({ err: error }, 'delivery outcomes could not be recorded yet');
        if (!last) await this.#ended.wait(TROUBLE_MS);
      }
      if (last) return;
      if (this.#unrecorded.length === 0) await this.#ended.wait(config.sweep);
    }
  }
}

function faultOfOurs(): Exchange {
  const failure = {
    stage: 'attempt',
    code: 'invalid_request',
    message: 'The attempt failed with an internal error; see the server log.',
  } as const;
  return { status: null, retryAfterSeconds: null, excerpt: '', failure, latencyMs: 0 };
}
