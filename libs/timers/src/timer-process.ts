/** A process the int spec starts: two loops over one table, fired by appends, until it is killed. A timer of kind `hang` never ends. */
import { createPool } from '@countersign/database';
import { PostgresEventStore } from '@countersign/event-store';
import { createLogger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { DueTimer } from './due-rows.js';
import { type DueOutcome, TimerLoop } from './timer-loop.js';

export const CATEGORIES = { review: 'rev' };

/** Writes down that it was asked, then appends what the clock does to a review; the append cancels the row. */
export function expiring(store: PostgresEventStore, pool: Pool, process: string): (timer: DueTimer) => Promise<DueOutcome> {
  return async ({ stream, kind, project, dueAt }) => {
    await pool.query('insert into fired (stream, kind, process, early) values ($1, $2, $3, event_store.now() < $4::timestamptz)', [
      stream,
      kind,
      process,
      dueAt,
    ]);
    if (kind === 'hang') await new Promise(() => {});
    const { version } = await store.readStream(stream);
    const result = await store.append({
      streams: [{ stream, project, expectedVersion: version, events: [{ type: 'review.expired', body: { kind } }] }],
      meta: {},
      notBefore: dueAt,
      cancel: [{ stream, kind }],
    });
    if (result.status === 'too_early') return 'not_due';
    if (result.status !== 'appended') throw new Error(`append answered ${result.status}`);
    return 'fired';
  };
}

if (process.argv[1]?.endsWith('timer-process.ts')) {
  const [connectionString, leaseMs] = process.argv.slice(2) as [string, string];
  const logger = createLogger({ service: 'timers', level: 'silent' });
  for (const name of ['one', 'two']) {
    const pool = createPool({ connectionString, role: 'countersign_app', max: 5, applicationName: 'timer process' });
    const store = new PostgresEventStore({ pool, writer: 'test', categories: CATEGORIES });
    const onDue = expiring(store, pool, `${process.pid} ${name}`);
    new TimerLoop({ pool, categories: CATEGORIES, logger, onDue, leaseMs: Number(leaseMs) }).start();
  }
  process.stdout.write('started\n');
}
