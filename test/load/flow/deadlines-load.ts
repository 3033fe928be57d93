/**
 * Requests whose deadlines come at a fixed rate: appended at that rate through the store, then the database's clock is set forward to shortly
 * before the first is due. How late each was is what the log says: the time of the event that settled it less that of its request and the
 * seconds it gave.
 */
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { newId, PostgresEventStore } from '@countersign/event-store';
import { until } from '@countersign/testing';
import pg from 'pg';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { createReview } from '../http/reviews.js';
import { openLoop } from '../measure/callers.js';
import { Latencies } from '../measure/latencies.js';
import type { Access } from '../stage/product.js';

const TIMEOUT_S = 3_600;
const AHEAD_S = 1;
const EXPIRED = `
  select extract(epoch from expired.time - requested.time)::float8 * 1000 - $2 as late
  from event_store.events expired join event_store.events requested on requested.stream = expired.stream and requested.version = 1
  where expired.shard = 0 and expired.position > $1 and expired.type = 'review.expired'`;

export async function start({ rate, ...access }: Access & { rate: number }): Promise<Side> {
  const client = new Client(access.url, 1);
  const model = await createReview(client, access, { timeout: { seconds: TIMEOUT_S, action: 'expire' } });
  await client.close();
  const pool = createPool({ connectionString: access.database, role: APP_ROLE, max: 2 });
  const store = new PostgresEventStore({ pool, writer: 'intake', categories: CATEGORY_PREFIXES, validate: validateEvent });
  const { events, project } = await store.readStream(model);
  const [requested] = events;
  if (requested === undefined || project === null) throw new Error('The model has no events.');
  const owner = new pg.Client({ connectionString: access.database });
  await owner.connect();

  async function request(): Promise<void> {
    const stream = newId('rev');
    const { type, body, schemaVersion, meta } = requested as typeof requested & object;
    const { status } = await store.append({
      streams: [{ stream, project: project as string, expectedVersion: 0, events: [{ type, body, schemaVersion }] }],
      meta,
      schedule: [{ stream, kind: 'timeout', due: { inSeconds: TIMEOUT_S } }],
    });
    if (status !== 'appended') throw new Error(`An append was answered ${status}.`);
  }

  return {
    async round(seconds) {
      const { position } = await store.head();
      const began = performance.now();
      await openLoop(rate, seconds, request);
      const passed = (performance.now() - began) / 1_000;
      await owner.query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [TIMEOUT_S - passed - AHEAD_S]);
      const counting = () => owner.query<{ n: number }>(`select count(*)::int as n from (${EXPIRED}) e`, [position, TIMEOUT_S * 1_000]);
      await until(
        async () => (await counting()).rows[0]?.n ?? 0,
        (n) => n >= Math.round(rate * seconds),
      );
      const { rows } = await owner.query<{ late: number }>(EXPIRED, [position, TIMEOUT_S * 1_000]);
      const took = new Latencies();
      for (const { late } of rows) took.add(late);
      return { ...took.sample(), early_count: rows.filter(({ late }) => late < 0).length };
    },
    async close() {
      await store.close();
      await pool.end();
      await owner.end();
    },
  };
}
