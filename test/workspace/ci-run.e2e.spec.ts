/** What `.ci/run` makes of what npm says: its last line and its exit code are all that whoever started it reads. */
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder, spawnProgram } from '@countersign/platform/fixture';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const RUN = fileURLToPath(new URL('../../.ci/run', import.meta.url));

/** What a step of npm writes, and how it ends. */
interface Step {
  says: string;
  exits: number;
}
const ends = (says: string, exits = 0): Step => ({ says, exits });
const INSTALLED = ends('added 800 packages');
const TESTED = ends('unit: 7 passed, 0 failed\n10 passed, 0 failed');
const VERIFIED = ends('format … ok\n6 passed, 0 failed');

describe('the whole check', () => {
  let scratch: ReturnType<typeof scratchFolder>;
  beforeEach(() => {
    scratch = scratchFolder();
  });
  afterEach(() => scratch.remove());

  /** Runs it in a folder of its own, where npm is one that says what it is told to. */
  async function run(ci: Step, test: Step, verify: Step): Promise<{ lastLine: string | undefined; failed: boolean }> {
    for (const folder of ['.ci', 'bin']) mkdirSync(join(scratch.path, folder));
    const [copy, npm] = [join(scratch.path, '.ci/run'), join(scratch.path, 'bin/npm')];
    copyFileSync(RUN, copy);
    const step = ({ says, exits }: Step) => `printf '%s\\n' '${says}'; exit ${exits};;`;
    writeFileSync(
      npm,
      ['#!/bin/sh', 'case "$*" in', `ci) ${step(ci)}`, `test) ${step(test)}`, `*verify) ${step(verify)}`, 'esac', 'exit 99', ''].join('\n'),
    );
    chmodSync(npm, 0o755);
    const { code, stdout } = await spawnProgram('env', [`PATH=${join(scratch.path, 'bin')}:${process.env.PATH}`, copy]).exited;
    return { lastLine: stdout.trimEnd().split('\n').at(-1), failed: code !== 0 };
  }

  it.each<[string, [Step, Step, Step], string]>([
    ['adds up what passed', [INSTALLED, TESTED, VERIFIED], '16 passed, 0 failed'],
    ['fails for a test', [INSTALLED, ends('9 passed, 1 failed', 1), VERIFIED], '15 passed, 1 failed'],
    ['fails for a test, whatever npm ends with', [INSTALLED, ends('9 passed, 1 failed'), VERIFIED], '15 passed, 1 failed'],
    ['fails for tests that end without a closing line', [INSTALLED, ends('unit: 7 passed, 0 failed', 137), VERIFIED], '6 passed, 1 failed'],
    ['fails for a static check', [INSTALLED, TESTED, ends('5 passed, 1 failed', 1)], '15 passed, 1 failed'],
    [
      'fails where the checks end badly and say that none failed',
      [INSTALLED, TESTED, ends('6 passed, 0 failed', 1)],
      '16 passed, 1 failed',
    ],
    [
      'fails, and tests nothing, where nothing can be installed',
      [ends('npm error ECONNREFUSED', 1), TESTED, VERIFIED],
      '0 passed, 1 failed',
    ],
    ['fails where nothing was tested', [INSTALLED, ends('0 passed, 0 failed'), ends('0 passed, 0 failed')], '0 passed, 0 failed'],
  ])('%s', async (_, steps, lastLine) => {
    expect(await run(...steps)).toEqual({ lastLine, failed: !lastLine.startsWith('16') || lastLine.endsWith('1 failed') });
  });
});
