import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unitOf } from './figure.js';
import { FIGURES } from './figures.js';
import type { Results } from './measure/result.js';

const SOURCE = fileURLToPath(new URL('../../libs/testing/jest/source.mjs', import.meta.url));
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

/** One of each way to set a stage; `npm run bench -- --rounds=1 --seconds=0.2 --minutes=0.05` tries them all, in minutes. */
const TRIED = FIGURES.filter(({ name }) => ['append-32', 'http-64', 'webhooks-100-store', 'bus-store'].includes(name));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-bench-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command, as it is written and not as it was built. */
const bench = (...args: string[]) => spawnProgram('node', ['--import', SOURCE, MAIN, ...args]).exited;

describe('npm run bench', () => {
  it.each(TRIED.map(({ name }) => name))('measures a round of %s', async (name) => {
    const file = join(folder, `${name}.json`);
    const { code, stderr } = await bench(name, '--rounds=1', '--seconds=0.2', '--minutes=0.05', `--json=${file}`);
    if (code !== 0) throw new Error(stderr);
    const [result] = (JSON.parse(readFileSync(file, 'utf8')) as Results).figures;
    if (result?.failure !== undefined) throw new Error(result.failure);
    const figure = TRIED.find((one) => one.name === name);
    expect(result?.claims.map(({ what }) => what)).toEqual(figure?.claims.map(({ what }) => what));
    const samples = Object.values(result?.rounds[0] ?? {}).flatMap(Object.entries<number>);
    expect(samples.length).toBeGreaterThan(0);
    // Throws for a measure without a unit.
    expect(samples.map(([measure, value]) => [unitOf(measure), Number.isFinite(value)])).toEqual(
      samples.map(([measure]) => [unitOf(measure), true]),
    );
  });

  it('refuses a figure there is none of', async () => {
    const { code, stderr } = await bench('no-such-figure');
    expect([code, stderr]).toEqual([2, expect.stringContaining('No figure is called no-such-figure')]);
  });

  it('ends with 1 on --check where a figure was not measured', async () => {
    const path = join(process.execPath, '..');
    const { code, stdout } = await spawnProgram('env', [
      `PATH=${path}`,
      'node',
      '--import',
      SOURCE,
      MAIN,
      'append-32',
      '--rounds=1',
      '--seconds=0.1',
      '--check',
    ]).exited;
    expect([code, stdout]).toEqual([1, expect.stringContaining('pgbench was not found')]);
  });
});
