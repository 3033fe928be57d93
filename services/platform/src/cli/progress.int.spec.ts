/** Long work shows how far it is to who watches, and writes nothing between its lines where nobody does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { handle, newId, PostgresEventStore } from '@countersign/event-store';
import { reviewFold } from '@countersign/review';
import { asking, PROJECT } from '@countersign/review/fixture';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MIGRATION_SETS } from '../schema.js';
import type { Work } from './command.js';
import { exportWork } from './commands/export.js';
import { rebuildWork } from './commands/rebuild.js';
import { verifyWork } from './commands/verify.js';
import { outputTo } from './output.js';

const PROJECTS = 2;
const REVIEWS = 7;
let db: TestDatabase;
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'countersign-progress-'));
  db = await testDatabase({ sets: [...MIGRATION_SETS] });
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORY_PREFIXES, validate: validateEvent });
  for (let n = 0; n < PROJECTS; n++) {
    const project = newId('prj');
    const created = { type: 'project.created', body: { name: 'Progress', slug: `progress-${n}`, description: null } };
    await store.append({ streams: [{ stream: project, project, expectedVersion: 0, events: [created] }], meta: {} });
  }
  for (let n = 0; n < REVIEWS; n++) {
    const review = newId('rev');
    await handle(store, { stream: review, project: PROJECT, fold: reviewFold, decide: asking({ review }), meta: {} });
  }
  await store.close();
});
afterAll(async () => {
  await db.close();
  await rm(scratch, { recursive: true });
});

/** What was written to a stream, which says that it is a terminal or that it is none. */
class Written extends Writable {
  text = '';
  readonly columns = 120;

  constructor(readonly isTTY: boolean) {
    super({
      write: (chunk, _, done) => {
        this.text += String(chunk);
        done();
      },
    });
  }
}

async function run(work: Work, { terminal, json = false }: { terminal: boolean; json?: boolean }): Promise<{ out: string; err: string }> {
  const [stdout, stderr] = [new Written(terminal), new Written(terminal)];
  const teardown = new Teardown();
  const logger = createLogger({ service: 'cli', level: 'silent' });
  const connection = {
    ownerUrl: db.ownerUrl,
    dataDir: scratch,
    environment: { SECRETS_KEY: '0'.repeat(64) },
    server: null,
    logger,
    teardown,
  };
  try {
    expect(await work(connection, outputTo(json, { stdout, stderr }))).toBe(0);
  } finally {
    await teardown.run();
  }
  return { out: stdout.text, err: stderr.text };
}

const toFile = () => exportWork({ from: 1, output: join(scratch, `${newId('exe')}.jsonl`) });
const LONG_WORK: [string, () => Work, RegExp][] = [
  ['verify', () => verifyWork({ from: 1 }), /Verifying .* 100 % · 9\/9/],
  ['rebuild audit', () => rebuildWork('audit'), /Rebuilding audit .* 100 % · 9\/9/],
  ['rebuild intake', () => rebuildWork('intake'), /Rebuilding intake .* 100 % · 9\/9/],
  ['rebuild decisions', () => rebuildWork('decisions'), /Rebuilding decisions .* 100 % · 9\/9/],
  ['rebuild directory', () => rebuildWork('directory'), /Rebuilding directory .* 100 % · 2\/2/],
  ['export', toFile, /Exporting .* 100 % · 9\/9/],
];

describe('the bar of long work', () => {
  it.each(LONG_WORK)('of %s is drawn on a terminal, with how much is done of how much', async (_, work, bar) => {
    const { err } = await run(work(), { terminal: true });
    expect(err).toMatch(bar);
    // The cursor it hid is shown again.
    expect(err.lastIndexOf('\x1B[?25h')).toBeGreaterThan(err.lastIndexOf('\x1B[?25l'));
  });

  it.each(LONG_WORK)('of %s is not drawn where nobody watches, nor with --json', async (_, work) => {
    const piped = await run(work(), { terminal: false });
    expect(piped).toEqual({ out: expect.stringMatching(/\n$/), err: '' });
    expect(piped.out).not.toContain('\x1B');
    const asked = await run(work(), { terminal: true, json: true });
    expect(asked.err).toBe('');
    expect(() => JSON.parse(asked.out)).not.toThrow();
  });
});
