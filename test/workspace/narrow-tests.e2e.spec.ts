import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, scratchFolder, spawnProgram } from '@countersign/platform/fixture';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('a narrow run of the tests', () => {
  it.each([
    ['no/such/folder', 'No test matches no/such/folder.'],
    ['libs/evidence no/such/folder', 'No test matches no/such/folder.'],
    ['--only=e2e libs/evidence', 'No e2e test matches libs/evidence.'],
    ['--only=fast', '`--only` must be one of unit, int, e2e, not fast.'],
  ])('that would run nothing, or less than was asked for, fails: %s', async (args, sentence) => {
    const { code, stdout, stderr } = await spawnProgram('node', ['scripts/test.mjs', ...args.split(' ')]).exited;
    expect({ code, stdout, sentence: stderr.split('\n')[0] }).toEqual({ code: 2, stdout: '', sentence });
  });
});

describe('a run of the tests', () => {
  const seeded = join(ROOT, `test/seeded-${process.pid}`);
  let scratch: ReturnType<typeof scratchFolder>;
  beforeEach(() => {
    scratch = scratchFolder();
    mkdirSync(seeded);
  });
  afterEach(() => {
    rmSync(seeded, { recursive: true, force: true });
    scratch.remove();
  });

  function seed(name: string, ...lines: string[]): void {
    writeFileSync(join(seeded, `${name}.e2e.spec.ts`), ["import { beforeAll, expect, it } from '@jest/globals';", ...lines].join('\n'));
  }
  const seedPlain = () => seed('plain', "it('passes', () => expect(1).toBe(1));");
  const seedBrowser = () => seed('page.browser', "it('opens a page', () => expect(1).toBe(1));");
  const seedKafka = () => seed('bus.kafka', "it('starts a broker', () => expect(1).toBe(2));");

  function run(environment: string[], ...args: string[]): Promise<Ended> {
    return spawnProgram('env', [...environment, 'node', 'scripts/test.mjs', ...args, relative(ROOT, seeded)]).exited;
  }
  const summary = ({ stdout }: Ended, lines: number) => stdout.trimEnd().split('\n').slice(-lines);

  it('fails for a test that fails once and would pass a second time', async () => {
    const marker = JSON.stringify(join(scratch.path, 'ran'));
    seed(
      'once',
      "import { existsSync, writeFileSync } from 'node:fs';",
      "it('passes the second time', () => {",
      `  const ran = existsSync(${marker});`,
      `  writeFileSync(${marker}, '');`,
      '  expect(ran).toBe(true);',
      '});',
    );
    const ended = await run([]);
    expect(summary(ended, 2)).toEqual(['e2e: 0 passed, 1 failed', '0 passed, 1 failed']);
    expect(ended.code).toBe(1);
  });

  it('gives hooks the time that tests have, started by hand as well', async () => {
    // Jest's own limit is 5 s, and nothing but time shows which one holds.
    seed('hook', 'beforeAll(() => new Promise((done) => setTimeout(done, 5_500)));', "it('ran it', () => expect(1).toBe(1));");
    const { code, stderr } = await spawnProgram('node', [
      '--experimental-vm-modules',
      join(ROOT, 'node_modules/jest/bin/jest.js'),
      '--selectProjects=e2e',
      `--testPathPatterns=${relative(ROOT, seeded)}`,
    ]).exited;
    expect({ code, passed: /^Tests: +1 passed, 1 total$/m.test(stderr) }).toEqual({ code: 0, passed: true });
  });

  it('leaves the browser out when it is told to, and says so in the summary', async () => {
    seedPlain();
    seedBrowser();
    const ended = await run([], '--without=browser');
    expect(summary(ended, 3)).toEqual(['Skipped by --without=browser: 1 spec file.', 'e2e: 1 passed, 0 failed', '1 passed, 0 failed']);
    expect(ended.code).toBe(0);
  });

  it('leaves out what needs a broker when it is told to, and says so in the summary', async () => {
    seedPlain();
    seedKafka();
    const ended = await run([], '--without=kafka');
    expect(summary(ended, 3)).toEqual(['Skipped by --without=kafka: 1 spec file.', 'e2e: 1 passed, 0 failed', '1 passed, 0 failed']);
    expect(ended.code).toBe(0);
  });

  it('fails for a browser that is missing with a sentence, and runs the rest', async () => {
    seedPlain();
    seedBrowser();
    const ended = await run([`PATH=${await pathWithout()}`]);
    const sentence = expect.stringContaining('The browser tests need Chromium and the Liberation fonts');
    expect(summary(ended, 3)).toEqual([sentence, 'e2e: 1 passed, 0 failed', '1 passed, 1 failed']);
    expect(ended.code).toBe(1);
  });

  /** A PATH with what a build needs, and neither a browser nor anything that could install one. */
  async function pathWithout(): Promise<string> {
    for (const name of ['node', 'npm', 'sh']) {
      const { stdout } = await spawnProgram('which', [name]).exited;
      symlinkSync(realpathSync(stdout.trim()), join(scratch.path, name));
    }
    return scratch.path;
  }
});
