import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@countersign/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Credentials } from './credentials.js';
import { signIn, succeed } from './fixture/api.js';
import {
  addressOf,
  type SpawnedProgram,
  scratchFolder,
  spawnProgram,
  spawnServer,
  stopLeftovers,
  until,
} from './fixture/server-process.js';

/** What the README tells a newcomer to run, run as it stands there. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
/** Beside the workspace's packages, which an example may import. */
const EXAMPLE = join(ROOT, `.nx/readme-${process.pid}.ts`);
const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
const programs: SpawnedProgram[] = [];
let credentials: Credentials;
let session: string;

beforeAll(async () => {
  const server = spawnServer(dataDir);
  programs.push(server);
  await addressOf(server);
  credentials = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;
  session = await signIn(credentials.url, credentials.reviewer);
});
afterAll(async () => {
  await stopLeftovers(dataDir, programs);
  rmSync(EXAMPLE, { force: true });
  scratch.remove();
});

/** A fenced block of the README that holds a text. */
function block(language: string, holds: string): string {
  const found = [...README.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter(([, fence, text]) => fence === language && text?.includes(holds));
  expect(found).toHaveLength(1);
  return found[0]?.[2] ?? '';
}

function run(command: string, ...args: string[]): SpawnedProgram {
  const program = spawnProgram(command, args, { env: { DATA_DIR: dataDir } });
  programs.push(program);
  return program;
}

/** Answers what the example asks, and gives the review. */
async function answerNext(action: { action_id: string; feedback?: string }): Promise<string> {
  const review = await until(
    'a review to be asked for',
    async () => (await succeed(credentials.url, 'listReviews', { bearer: session, query: { status: 'pending' } })).items[0],
  );
  await succeed(credentials.url, 'actOnReview', { bearer: session, path: { id: review.id }, body: action });
  return review.id;
}
const approveNext = () => answerNext({ action_id: 'approve' });

/** What a machine lacks fails its example; `npm test` installs it where it may. */
function need(program: 'curl' | 'python3'): void {
  if (spawnSync(program, ['--version']).error) {
    throw new Error(`An example of the README needs ${program} (Debian and Ubuntu: \`sudo apt-get install ${program}\`).`);
  }
}

describe('the agents of the README', () => {
  it('in a shell gets its answer when somebody decides', async () => {
    need('curl');
    const agent = run('bash', '-c', block('bash', 'curl'));
    const id = await approveNext();
    const { code, stdout } = await agent.exited;
    expect(code).toBe(0);
    const [told, answer = '', end] = stdout.split('\n');
    expect([told, end]).toEqual([`Decide it here: ${credentials.url}/reviews/${id}`, '']);
    expect(JSON.parse(answer)).toMatchObject({ id, status: 'decided', decision: 'approved' });
  });

  it.each([
    ['TypeScript', 'node', 'ask.ts', block('ts', '/redeem')],
    ['Python', 'python3', 'ask.py', block('python', '/redeem')],
  ] as const)('in %s redeems what was approved', async (_, command, name, source) => {
    if (command === 'python3') need(command);
    const file = join(scratch.path, name);
    writeFileSync(file, source);
    const agent = run(command, file);
    const id = await approveNext();
    const { code, stdout } = await agent.exited;
    expect(code).toBe(0);
    expect(stdout).toContain(`Decide it here: ${credentials.url}/reviews/${id}`);
    expect(stdout).toMatch(/^send [\s\S]*ann@customer\.example/m);
    expect((await succeed(credentials.url, 'getReview', { bearer: session, path: { id } })).redemption).toMatchObject({
      digest: expect.stringMatching(/^sha256:/),
    });

    for (const [action_id, said] of [
      ['request_changes', 'awaiting_iteration'],
      ['reject', 'rejected'],
    ] as const) {
      const other = run(command, file);
      await answerNext({ action_id, feedback: 'Thank them first.' });
      expect((await other.exited).stdout).toContain(`\nNot approved (${said}): Thank them first.\n`);
    }
  });
});

describe('the webhook receiver of the README', () => {
  const byHand = () => block('ts', 'createServer');
  const byLibrary = () => {
    const [imported, verified] = block('ts', 'standardwebhooks').trim().split('\n');
    const refusal = /^ {2}if \(!isOurs.*$/m;
    expect(byHand()).toMatch(refusal);
    return `${imported}\n${byHand().replace(refusal, `  ${verified}\n  if (!verified) return;`)}`;
  };

  it.each([
    ['by hand', byHand],
    ['with the library', byLibrary],
  ])('takes what is signed, checked %s', async (_, source) => {
    const [port] = await freePorts(1);
    writeFileSync(EXAMPLE, source().replace('4000', String(port)));
    const receiver = run('node', EXAMPLE);
    await receiver.printed(/Listening/);
    const review = await succeed(credentials.url, 'createReview', {
      bearer: credentials.api_key,
      body: {
        template: 'email-draft',
        payload: { to: 'ann@customer.example', subject: 'Ünïcode', body: 'It is on its way.' },
        callback_url: `http://127.0.0.1:${port}`,
      },
    });
    await succeed(credentials.url, 'actOnReview', { bearer: session, path: { id: review.id }, body: { action_id: 'approve' } });
    await receiver.printed(new RegExp(`whd_\\w+ review\\.decided ${review.id}`));
    await receiver.stop();
  });

  it('refuses what is not', async () => {
    const [port] = await freePorts(1);
    writeFileSync(EXAMPLE, byHand().replace('4000', String(port)));
    const receiver = run('node', EXAMPLE);
    await receiver.printed(/Listening/);
    const now = Math.floor(Date.now() / 1000);
    for (const signature of ['', `t=${now},v1=${'0'.repeat(64)}`, 'nonsense']) {
      const answer = await fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body: '{}',
        headers: { 'x-webhook-signature-v2': signature },
      });
      expect(answer.status).toBe(401);
    }
    await receiver.stop();
  });
});
