/** Erasure all the way (K4): from the operator's command to the last table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Receiver } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Credentials } from '../credentials.js';
import type { LockHolder } from '../data/lock.js';
import { call, signIn } from '../fixture/api.js';
import {
  addressOf,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnServer,
  stopLeftovers,
  until,
} from '../fixture/server-process.js';

const SECRET = 'Wilhelmina of 12 Secret Lane';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
let server: SpawnedProgram;
let url: string;
let agent: Receiver;
let owner: pg.Pool;
let review: string;
let session: string;
let digest: string;

const credentials = () => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;

/** Tables in which a text stands, as text or as bytes. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema !~ '^(pg_|information_schema)' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: hits } = await owner.query(`select 1 from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 limit 1`, [
      text,
      Buffer.from(text).toString('hex'),
    ]);
    if (hits.length > 0) found.push(name);
  }
  return found;
}

beforeAll(async () => {
  await prepareData(dataDir);
  server = spawnServer(dataDir);
  url = await addressOf(server);
  agent = await new Receiver().listen();
  owner = new pg.Pool({
    connectionString: (JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as LockHolder).database_url,
    max: 1,
  });
  owner.on('error', () => {});

  const { api_key, reviewer } = credentials();
  const asked = await call(url, 'createReview', {
    bearer: api_key,
    body: {
      template: 'refund',
      payload: { customer: SECRET, amount: 12, currency: 'EUR', reason: 'late' },
      callback_url: agent.url(),
      idempotency_key: 'refund of order 12',
    },
  });
  expect(asked.status).toBe(201);
  ({ id: review, payload_digest: digest } = asked.body);
  session = await signIn(url, reviewer);
  const draft = await call(url, 'saveReviewDraft', {
    bearer: session,
    path: { id: review },
    body: { draft_payload: { reason: `Is this ${SECRET}?` } },
  });
  expect(draft.status).toBe(200);
  expect((await call(url, 'actOnReview', { bearer: session, path: { id: review }, body: { action_id: 'approve' } })).status).toBe(200);
  await until('both deliveries to arrive', () => agent.types().length === 2);
  await until('the review to be listed as decided', async () => {
    const { body } = await call(url, 'listReviews', { bearer: api_key, query: { status: 'decided' } });
    return body.items.length === 1;
  });
});
afterAll(async () => {
  await owner.end();
  await agent.close();
  await stopLeftovers(dataDir, [server]);
  scratch.remove();
});

describe('`countersign erase`', () => {
  it('is about content that is there, and metadata that names nobody by address', async () => {
    expect(await tablesWith(SECRET)).toEqual(expect.arrayContaining(['event_store.events', 'webhooks.deliveries']));
    const { rows } = await owner.query<{ meta: string }>(
      "select meta from event_store.events where meta like '%@%' or meta like '%system:%'",
    );
    expect(rows).toEqual([]);
  });

  it('only says what it would do until it is told --yes, and refuses what is no stream', async () => {
    const asked = await runCli(dataDir, 'erase', review, '--reason', 'asked by the customer');
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringMatching(/^This erases the content of rev_\w+ \(2 events\).*--yes\.\n$/) });
    expect(await tablesWith(SECRET)).toContain('event_store.events');
    for (const stream of ['nonsense', 'xyz_00000000000000000000000000', 'rev_00000000000000000000000000', review.replace('rev_', 'tpl_')]) {
      expect(await runCli(dataDir, 'erase', stream, '--reason', 'x', '--yes')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^(No stream \S+|\S+ is not a stream id, such as rev_…)\.\n$/),
      });
    }
    expect((await runCli(dataDir, 'erase', review, '--yes')).code).toBe(2);
  });

  it('takes the content out of every table, and the log verifies', async () => {
    const before = JSON.parse((await runCli(dataDir, 'verify', '--json')).stdout);
    const { rows } = await owner.query<{ hash: string }>(
      "select input_hash as hash from event_store.idempotency where key = 'refund of order 12'",
    );
    const hash = rows[0]?.hash ?? '';
    expect(hash).toMatch(/^sha256:/);
    expect(await tablesWith(hash)).toContain('event_store.idempotency');
    expect(await tablesWith(digest)).toContain('event_store.events');
    expect(before).toMatchObject({ valid: true, redacted: 0 });
    const { code, stdout } = await runCli(dataDir, 'erase', review, '--reason', 'asked by the customer', '--yes', '--json');
    expect({ code, answer: JSON.parse(stdout) }).toEqual({ code: 0, answer: { stream: review, erased: 2 } });
    // With a hash, whoever guesses what was asked could find out that they are right.
    for (const text of [SECRET, hash, digest])
      await until('every table to have forgotten it', async () => (await tablesWith(text)).length === 0);
    const after = JSON.parse((await runCli(dataDir, 'verify', '--json')).stdout);
    expect(after).toMatchObject({ valid: true, redacted: 2, first_bad: null, events: before.events + 1 });
  });

  it('leaves the review to nobody, and its deliveries without a body', async () => {
    const { api_key } = credentials();
    expect((await call(url, 'getReview', { bearer: api_key, path: { id: review } })).status).toBe(404);
    expect((await call(url, 'listReviews', { bearer: api_key })).body.items).toEqual([]);
    const { body } = await call(url, 'listDeliveries', { bearer: session, query: { review_id: review } });
    expect(body.items).toHaveLength(2);
    for (const { id } of body.items) expect((await call(url, 'getDelivery', { bearer: session, path: { id } })).body.body).toBeNull();
    const again = await runCli(dataDir, 'erase', review, '--reason', 'asked by the customer', '--yes');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing left to erase') });
  });
});
