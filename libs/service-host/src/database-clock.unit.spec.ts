import { createServiceApp, injectTransport, ServiceClient } from '@countersign/http';
import { createLogger } from '@countersign/telemetry';
import { afterEach, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { Pool } from 'pg';
import { DatabaseClock } from './database-clock.js';

const HOUR_MS = 3_600_000;
const KEY = 'an identity key of at least thirty-two characters';
const logger = createLogger({ service: 'test', level: 'silent' });

@Module({})
class Nothing {}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const started = Date.now() - performance.now();
let asked = 0;

/** The clock of a database that is an hour ahead of this machine. */
async function startClock(): Promise<DatabaseClock> {
  const pool = { query: async () => ({ rows: [{ ms: started + performance.now() + HOUR_MS, asked: asked++ }] }) } as unknown as Pool;
  const clock = new DatabaseClock(pool, logger);
  await clock.start();
  closing.push(() => clock.stop());
  return clock;
}

it('tells the time of the database', async () => {
  const clock = await startClock();
  const before = Date.now();
  const told = clock.now() - HOUR_MS;
  // Half of what the question took may be off.
  expect(told).toBeGreaterThan(before - 5_000);
  expect(told).toBeLessThan(Date.now() + 5_000);
});

it.each([HOUR_MS, -HOUR_MS])('goes on as before where the machine’s clock is set by %i ms, and looks again at once', async (set) => {
  const { now } = await startClock();
  const real = Date.now;
  closing.push(() => {
    Date.now = real;
  });
  const [before, looks] = [now(), asked];
  Date.now = () => real() + set;
  expect(Math.abs(now() - before)).toBeLessThan(5_000);
  expect(asked).toBe(looks + 1);
  expect(Math.abs(now() - before)).toBeLessThan(5_000);
  expect(asked).toBe(looks + 1);
});

it('is what an identity is signed and judged by', async () => {
  const { now } = await startClock();
  const app = await createServiceApp(Nothing, { service: 'intake', identityKey: KEY, logger, now });
  closing.push(() => app.close());
  const status = async (by?: () => number) => {
    const client = new ServiceClient({ transport: injectTransport(() => ({ intake: app })), identityKey: KEY, now: by });
    return (await client.call('intake', { method: 'GET', path: '/internal/ready', actor: { kind: 'anonymous' }, request_id: 'r' })).status;
  };
  expect(await status(now)).toBe(200);
  // A machine that follows its own clock signs what ended an hour ago.
  expect(await status()).toBe(401);
});
