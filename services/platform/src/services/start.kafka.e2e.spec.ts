import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import {
  isRunning,
  postgresPid,
  type SpawnedProgram,
  scratchFolder,
  serviceProcesses,
  spawnProgram,
  stopLeftovers,
} from '../fixture/server-process.js';

const MAIN = fileURLToPath(new URL('../../dist/services/main.js', import.meta.url));
const scratch = scratchFolder();
const dataDir = join(scratch.path, 'data');
const started: SpawnedProgram[] = [];
afterEach(() => stopLeftovers(dataDir, started.splice(0)));
afterAll(() => scratch.remove());

/** As in a terminal: in a process group of its own, to which a Ctrl-C goes. */
function start(env: Record<string, string> = {}): SpawnedProgram {
  const program = spawnProgram('node', [MAIN], { env: { DATA_DIR: dataDir, PORT: '0', ...env }, detached: true });
  started.push(program);
  return program;
}
const interrupt = ({ child }: SpawnedProgram) => process.kill(-(child.pid as number), 'SIGINT');

/** A busy machine may have a service warn of what is slow, in a line of its log; nothing else is said where all is well. */
const beyondWarnings = (stderr: string) =>
  stderr.split('\n').filter((line) => line !== '' && !/^([\w-]+ \| )?\{"level":"warn",/.test(line));

const SERVICES = ['directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit', 'gateway'];

describe('npm run start:services', () => {
  it('says a line for each thing it starts and ends on Ctrl-C, without another word where all is well, and leaves nothing running', async () => {
    const stopped = start();
    await stopped.printed(/PostgreSQL … /);
    interrupt(stopped);
    const early = await stopped.exited;
    expect([early.code, beyondWarnings(early.stderr)]).toEqual([0, []]);
    expect(early.stdout).toMatch(/\nStopped\.\n$/);

    const program = start();
    await program.printed(/Ctrl-C stops/);
    const [before = ''] = program.stdout.split('Countersign is ready at');
    const lines = before.trim().split('\n').slice(1);
    const step = (name: string) => expect.stringMatching(new RegExp(`^ {2}${name} … \\d+\\.\\d s$`));
    expect(lines.slice(0, 4)).toEqual([...['PostgreSQL', 'schemas', 'Kafka'].map(step), `  starting ${SERVICES.join(', ')}`]);
    expect(lines.slice(4, -1)).toEqual(expect.arrayContaining(SERVICES.map((name) => step(`${name} ready`))));
    expect(lines.slice(4)).toHaveLength(SERVICES.length + 1);
    const kafka = Number(readFileSync(join(dataDir, 'kafka/broker.pid'), 'utf8'));
    const running = [...(await serviceProcesses(program)).keys(), postgresPid(dataDir), kafka].filter(isRunning);
    expect(running).toHaveLength(SERVICES.length + 2);
    interrupt(program);
    const ended = await program.exited;
    expect(running.filter(isRunning)).toEqual([]);
    expect([ended.code, beyondWarnings(ended.stderr)]).toEqual([0, []]);
  });

  it('ends at once with the words of a service whose settings are wrong', async () => {
    const { code, stdout, stderr } = await start({ KAFKA_SASL_MECHANISM: 'word of mouth' }).exited;
    expect(stderr).toMatch(/\nThe configuration has a mistake:\n {2}- KAFKA_SASL_MECHANISM .+, not "word of mouth"\.\n$/);
    expect([code, stdout.includes('starting again')]).toEqual([1, false]);
  });
});
