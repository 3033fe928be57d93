/** Processes that die with due rows in their hands, rows that cannot be handled, and a service that was away (M2, M4; K7). */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { uuidOf } from '@countersign/event-store';
import { within } from '@countersign/review/fixture';
import { createLogger } from '@countersign/telemetry';
import { until } from '@countersign/testing';
import { TimerLoop } from '@countersign/timers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fireTimer } from './fire-timer.js';
import { type Server, startServer } from './fixture/server.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SOURCE = at('../../../libs/testing/jest/source.mjs');
const MEMBER = at('./fixture/member.ts');

let server: Server;
const members: ChildProcess[] = [];
beforeEach(async () => {
  server = await startServer();
});
afterEach(async () => {
  await Promise.all(members.splice(0).map(kill));
  await server.close();
});

async function kill(member: ChildProcess): Promise<void> {
  if (member.exitCode !== null || member.signalCode !== null) return;
  member.kill('SIGKILL');
  await once(member, 'exit');
}

/** A process of the service whose commands stand still; `said` is what it has printed. */
async function startMember(when: 'before' | 'after') {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--import', SOURCE, MEMBER, server.db.ownerUrl, when], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
  });
  members.push(child);
  const said = { text: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.text += text;
  });
  const stuck = () => said.text.split('stuck\n').length - 1;
  await until(
    async () => said.text,
    (text) => text.includes('started'),
  );
  return { child, stuck };
}

const spent = (id: string) =>
  until(
    () => server.rows(id),
    (rows) => rows.length === 0,
  );

describe('a process that is killed', () => {
  it('before its appends leaves what is due to the others, and each fires once', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => server.ask(within('auto_reject', 60))));
    const { child, stuck } = await startMember('before');
    await server.db.advanceClock(60);
    // Both rows of a review are due.
    await until(
      async () => stuck(),
      (count) => count === 24,
    );
    await kill(child);
    for (const id of ids) expect(await server.types(id)).toEqual(['review.requested']);
    for (let n = 0; n < 2; n++) await server.start();
    await Promise.all(ids.map(spent));
    for (const id of ids) expect(await server.types(id)).toEqual(['review.requested', 'review.decided']);
  });

  it('after its appends leaves nothing to be fired again: a row goes with the append that it led to', async () => {
    const timeouts = await Promise.all(Array.from({ length: 6 }, () => server.ask(within('expire', 2700))));
    const reminders = await Promise.all(Array.from({ length: 6 }, () => server.ask(within('expire', 3600))));
    const { child } = await startMember('after');
    await server.db.advanceClock(2700);
    for (const id of [...timeouts, ...reminders])
      await until(
        () => server.types(id),
        (types) => types.length === 2,
      );
    await kill(child);
    for (const id of timeouts) expect(await server.rows(id)).toEqual([]);
    for (const id of reminders) expect((await server.rows(id)).map(({ kind }) => kind)).toEqual(['timeout']);
    for (let n = 0; n < 2; n++) await server.start();
    // What falls due later tells that they have looked.
    await server.db.advanceClock(900);
    await Promise.all(reminders.map(spent));
    for (const id of reminders) expect(await server.types(id)).toEqual(['review.requested', 'review.reminded', 'review.expired']);
    for (const id of timeouts) expect(await server.types(id)).toEqual(['review.requested', 'review.expired']);
  });
});

describe('a row that cannot be handled', () => {
  it('is parked alone and said once; the others fire, and after an upgrade so does it', async () => {
    const [newer, ...rest] = (await Promise.all(Array.from({ length: 5 }, () => server.ask(within('expire', 60))))) as [
      string,
      ...string[],
    ];
    // A type of a later release: what it means for a deadline is unknown (K10).
    await server.others.append({
      streams: [
        {
          stream: newer,
          project: (await server.facts(newer))[0]?.project ?? '',
          expectedVersion: 'any',
          events: [{ type: 'review.pondered', body: {} }],
        },
      ],
      meta: {},
    });
    // It has failed seven times before: the eighth is the last.
    await server.db.ownerPool.query('update event_store.timers set attempts = 7 where stream = $1', [uuidOf(newer)]);
    for (let n = 0; n < 3; n++) await server.start();
    await server.db.advanceClock(60);
    await Promise.all(rest.map(spent));
    const parked = await until(
      () => server.rows(newer),
      (rows) => rows.every((row) => row.parked),
    );
    expect(parked.map(({ kind, attempts }) => [kind, attempts])).toEqual([
      ['reminder', 8],
      ['timeout', 8],
    ]);
    const said = server.log.filter((line) => line.stream === newer);
    expect(said.map(({ kind, level, msg }) => [kind, level, String(msg).slice(0, 12)]).sort()).toEqual([
      ['reminder', 'error', 'timer parked'],
      ['timeout', 'error', 'timer parked'],
    ]);
    for (const id of rest) expect(await server.types(id)).toEqual(['review.requested', 'review.expired']);
    // What could not be read is gone, as an upgrade would have it.
    await server.db.ownerPool.query('alter table event_store.events disable trigger user');
    await server.db.ownerPool.query(
      "update event_store.events set type = 'review.reminded', body = '{\"after_seconds\":45,\"remaining_seconds\":15}' where type = 'review.pondered'",
    );
    await server.db.ownerPool.query('alter table event_store.events enable trigger user');
    const loop = new TimerLoop({
      pool: server.db.pool,
      categories: CATEGORY_PREFIXES,
      onDue: (timer) => fireTimer(server.others, timer),
      logger: createLogger({ service: 'timers', level: 'silent' }),
    });
    expect((await loop.parked()).map(({ stream, reason }) => [stream, reason.includes('review.pondered')])).toEqual([
      [newer, true],
      [newer, true],
    ]);
    expect([await loop.unpark(newer, 'timeout'), await loop.unpark(newer, 'reminder')]).toEqual([true, true]);
    await spent(newer);
    expect((await server.types(newer)).at(-1)).toBe('review.expired');
  });
});

describe('a service that was away', () => {
  it('does what fell due meanwhile, dated when it did', async () => {
    const first = await server.start();
    const ids = await Promise.all(Array.from({ length: 30 }, () => server.ask(within('auto_approve', 60))));
    await first.close();
    await server.db.advanceClock(86_400);
    // Nobody sweeps; whoever reads sees the settled review all the same (M3).
    const seen = await server.shown(ids[0] ?? '');
    expect(seen).toMatchObject({ decision: 'approved', decided_at: seen.expires_at });
    expect(await server.types(ids[0] ?? '')).toEqual(['review.requested']);
    await server.start();
    await Promise.all(ids.map(spent));
    const { updated_at, ...settled } = await server.shown(ids[0] ?? '');
    expect({ ...settled, updated_at }).toEqual(seen);
  });

  it('is ready while its database is, and answers nobody without an identity', async () => {
    const app = await server.start();
    const ask = async (url: string) => (await app.inject({ method: 'GET', url })).statusCode;
    expect(await ask('/health/ready')).toBe(200);
    expect(await ask('/api/v1/reviews')).toBe(401);
    expect(await ask('/internal/ready')).toBe(401);
  });
});
