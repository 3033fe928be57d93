/** The event store as a service opens it: validation, hash chain, idempotency keys, version checks and tracing on. */
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { createLogger, startTelemetry } from '@countersign/telemetry';
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import { BODY, META, TYPE } from './event.js';

/** A review has three events on the average: one begins its stream, two come after it. */
const EVENTS_OF_A_STREAM = 3;

export async function start({ url, callers, telemetry }: { url: string; callers: number; telemetry: string }): Promise<Side> {
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const running = await startTelemetry({ endpoint: telemetry }, { service: 'bench', version: '0', logger });
  const pool = createPool({ connectionString: url, role: APP_ROLE });
  const store = new PostgresEventStore({ pool, writer: 'intake', categories: CATEGORY_PREFIXES, validate: validateEvent, logger });
  const project = newId('prj');
  const streams = Array.from({ length: callers }, () => ({ stream: newId('rev'), version: 0 }));
  let asked = 0;

  async function append(caller: number): Promise<void> {
    const own = streams[caller] as (typeof streams)[number];
    if (own.version === EVENTS_OF_A_STREAM) Object.assign(own, { stream: newId('rev'), version: 0 });
    const { status } = await store.append({
      streams: [{ stream: own.stream, project, expectedVersion: own.version, events: [{ type: TYPE, body: BODY }] }],
      meta: META,
      idempotency: { scope: project, key: `${process.pid}-${++asked}`, inputHash: 'sha256:d0c67495c3a92460ba66edb3e19a2885' },
    });
    if (status !== 'appended') throw new Error(`An append was answered ${status}.`);
    own.version += 1;
  }
  return {
    round: (seconds) => closedLoop(callers, seconds, append),
    async close() {
      await store.close();
      await pool.end();
      await running.stop();
    },
  };
}
