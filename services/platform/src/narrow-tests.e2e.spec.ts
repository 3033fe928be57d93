import { describe, expect, it } from '@jest/globals';
import { spawnProgram } from './fixture/server-process.js';

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
