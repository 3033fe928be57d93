import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  addressOf,
  type Ended,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnProgram,
  spawnServer,
  stopLeftovers,
} from '../fixture/server-process.js';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
let server: SpawnedProgram;

beforeAll(async () => {
  await prepareData(dataDir);
  server = spawnServer(dataDir);
  await addressOf(server);
});
afterAll(async () => {
  await stopLeftovers(dataDir, [server]);
  scratch.remove();
});

/** One sentence on standard error, nothing on standard output, and the exit code. */
function expectSentence({ code, stdout, stderr }: Ended, expected: number, sentence: RegExp): void {
  expect(stderr).toMatch(sentence);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
}

describe('a command that cannot do what it was called for says why in one sentence', () => {
  it.each([
    [1, 'projects create Other --slug demo', /slug_already_exists/],
    [1, 'projects create --name Other --slug demo', /slug_already_exists/],
    [2, 'projects create', /A project takes one name\. Usage: countersign projects create <name>/],
    [2, 'projects create One --name Two', /A project takes one name\. Usage/],
    [1, 'keys create --project nowhere --name x', /No project nowhere\. Known projects: demo/],
    [1, 'keys create --project demo --name x --scope reviews:all', /Unknown scope reviews:all/],
    [1, 'keys create --project demo --name x --owner nobody@example.org', /is not a member of this project/],
    [1, 'keys create --project demo --name x --expires-at soon', /is not a date and time/],
    [1, 'keys create --project demo --name x --expires-at 2020-01-01T00:00:00Z', /is in the past/],
    [1, 'keys revoke key_01m8nyw5reen9rzfyc1s19fkye', /No API key key_.*countersign keys list/],
    [2, 'users create --project demo --email new@example.org', /Set their name with --name/],
    [1, 'users create --project demo --email nonsense --name X', /must match format "email"/],
    [1, 'users unlock --email nobody@example.org', /No person has the e-mail address/],
    [1, 'verify --from 999999', /The range is empty: the log ends at position \d+, before --from 999999/],
    [1, 'verify --from 5 --to 2', /The range is empty: --from 5 comes after --to 2/],
    [1, 'export --from 999999', /The range is empty/],
    [1, 'export --project nowhere', /No project nowhere\. Known projects: demo/],
    [1, 'export --project prj_01m8nyw5reen9rzfyc1s19fkye', /No project prj_/],
    [1, 'parked list --group nobody', /No consumer nobody\. Consumers: audit/],
    [1, 'parked unpark nobody rev_01m8nyw5reen9rzfyc1s19fkye', /No consumer nobody/],
    [1, 'parked unpark audit nonsense', /nonsense is not parked in audit/],
    [2, 'verify --from x', /Must be a whole number, 1 or more/],
    [2, 'verify --from', /argument missing/],
    [2, 'verify --nope', /Unknown option '--nope'/],
    [2, 'keys create --project demo --name x --rate-limit -3', /Must be a whole number, 1 or more/],
    [2, 'rebuild everything', /Allowed choices are audit, intake, decisions, directory, all/],
    [2, 'rebuild', /Missing required argument 'projection'/],
    [2, 'parked unpark audit', /Missing required argument 'stream'/],
    [2, 'nonsense', /Unknown command 'nonsense'/],
    [3, 'export --output /nonexistent/events.jsonl', /Cannot write/],
  ] as const)('%i: %s', async (expected, args, sentence) => {
    expectSentence(await runCli(dataDir, ...args.split(' ')), expected, sentence);
  });

  it.each([
    ['no data there', { DATA_DIR: join(scratch.path, 'nothing') }, /contains no Countersign data/],
    ['no folder there', { DATA_DIR: '/proc/countersign' }, /contains no Countersign data/],
    [
      'a database that is not reachable',
      { DATABASE_URL: 'postgresql://a:b@127.0.0.1:1/c' },
      /Cannot use the PostgreSQL at DATABASE_URL .*connect ECONNREFUSED/,
    ],
  ])('3: with %s', async (_, env: Record<string, string>, sentence) => {
    expectSentence(await cli(['verify'], { DATA_DIR: dataDir, ...env }), 3, sentence);
  });

  it.each([
    [1, 'verify --from 999999', {}],
    [2, 'verify --nope', {}],
    [2, 'users', {}],
    [3, 'status', { DATA_DIR: '/proc/countersign' }],
  ] as const)('as JSON with --json: %i %s', async (expected, args, env) => {
    const { code, stdout, stderr } = await cli([...args.split(' '), '--json'], { DATA_DIR: dataDir, ...env });
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({ error: { message: expect.stringMatching(/\.\)?$/) } });
  });
});

const cli = (args: string[], env: Record<string, string>): Promise<Ended> =>
  spawnProgram('node', [join(import.meta.dirname, '../../bin/countersign.js'), ...args], { env }).exited;
