/** Told to end under load, the server finishes what it has begun and begins nothing more. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idOf } from '@countersign/event-store';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Credentials } from './credentials.js';
import type { LockHolder } from './data/lock.js';
import { call } from './fixture/api.js';
import {
  addressOf,
  isRunning,
  postgresPid,
  prepareData,
  type SpawnedProgram,
  scratchFolder,
  spawnServer,
  stopLeftovers,
  until,
} from './fixture/server-process.js';

const CONNECTIONS = 16;

let scratch: ReturnType<typeof scratchFolder>;
let dataDir: string;
const started: SpawnedProgram[] = [];
beforeEach(async () => {
  scratch = scratchFolder();
  dataDir = join(scratch.path, 'data');
  await prepareData(dataDir);
});
afterEach(async () => {
  await stopLeftovers(dataDir, started.splice(0));
  scratch.remove();
});

async function start(): Promise<{ server: SpawnedProgram; url: string }> {
  const server = spawnServer(dataDir);
  started.push(server);
  return { server, url: await addressOf(server) };
}

const ofDataDir = <T>(file: string) => JSON.parse(readFileSync(join(dataDir, file), 'utf8')) as T;

/** Asks for a review; its id, or null for a request that was refused because the server ends: no answer, or a 503. */
async function ask(url: string, idempotency_key: string, expected = 201): Promise<string | null> {
  const bearer = ofDataDir<Credentials>('credentials.json').api_key;
  const payload = { customer: 'Maya', amount: 12, currency: 'EUR', reason: 'late' };
  const answer = await call(url, 'createReview', { bearer, body: { template: 'refund', payload, idempotency_key } }).catch(() => null);
  if (answer === null || answer.status === 503) return null;
  expect(answer.status).toBe(expected);
  return answer.body.id;
}

/** The reviews that were asked for with keys of this test, as the log has them. */
async function stored(): Promise<Map<string, string[]>> {
  const client = new pg.Client({ connectionString: ofDataDir<LockHolder>('lock.json').database_url });
  await client.connect();
  const { rows } = await client.query<{ key: string; id: string }>(
    `select body::json ->> 'idempotency_key' as key, stream as id from event_store.events
     where type = 'review.requested' and body::json ->> 'idempotency_key' like 'drained-%' order by position`,
  );
  await client.end();
  const reviews = new Map<string, string[]>();
  for (const { key, id } of rows) reviews.set(key, [...(reviews.get(key) ?? []), idOf('rev', id)]);
  return reviews;
}

describe('a server under load', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'told to end by %s answers what it has begun, loses and doubles nothing, and is gone',
    async (signal) => {
      const { server, url } = await start();
      const postgres = postgresPid(dataDir);
      const answers = new Map<string, string | null>();
      const load = Array.from({ length: CONNECTIONS }, async (_, connection) => {
        for (let n = 0; ; n++) {
          const key = `drained-${connection}-${n}`;
          const id = await ask(url, key);
          answers.set(key, id);
          if (id === null) return;
        }
      });
      await until('every connection to be busy', () => answers.size >= 4 * CONNECTIONS);
      expect(await server.stop(signal)).toMatchObject({ code: 0, signal: null, stderr: '' });
      await Promise.all(load);
      expect(isRunning(postgres)).toBe(false);
      expect(readdirSync(dataDir)).not.toContain('lock.json');

      const next = await start();
      const begun = [...answers].filter(([, id]) => id !== null);
      expect(answers.size - begun.length).toBe(CONNECTIONS);
      expect(await stored()).toEqual(new Map(begun.map(([key, id]) => [key, [id]])));
      for (const [key, id] of answers) {
        const again = await ask(next.url, key, id === null ? 201 : 200);
        expect(again).toEqual(id ?? expect.stringMatching(/^rev_/));
        answers.set(key, again);
      }
      expect(await stored()).toEqual(new Map([...answers].map(([key, id]) => [key, [id]])));
      expect((await next.server.stop()).code).toBe(0);
    },
  );
});
