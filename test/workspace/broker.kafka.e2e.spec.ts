import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, type SpawnedProgram, scratchFolder, spawnProgram, until } from '@countersign/platform/fixture';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';

let scratch: ReturnType<typeof scratchFolder>;
let program: SpawnedProgram | null = null;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(async () => {
  await program?.stop('SIGTERM');
  scratch.remove();
});

/** As in a terminal: in a process group of its own, to which a Ctrl-C goes. */
function start(): SpawnedProgram {
  program = spawnProgram('npm', ['run', '--silent', 'kafka', '--', `--data=${scratch.path}`], { detached: true });
  return program;
}

const brokerPid = () => Number(readFileSync(join(scratch.path, 'broker.pid'), 'utf8'));

describe('npm run kafka', () => {
  it('says where it is, serves clients, ends on Ctrl-C and leaves nothing running', async () => {
    const running = start();
    const [, brokers = ''] = await running.printed(/^KAFKA_BROKERS=(127\.0\.0\.1:\d+)$/m);
    const admin = new Kafka({ brokers: [brokers], clientId: 'developer', logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    expect(await admin.createTopics({ topics: [{ topic: 'mine' }] })).toBe(true);
    await admin.disconnect();
    const broker = brokerPid();
    expect(isRunning(broker)).toBe(true);
    process.kill(-(running.child.pid as number), 'SIGINT');
    expect((await running.exited).stderr).toBe('');
    expect(isRunning(broker)).toBe(false);
  });

  it('leaves nothing running when it is killed', async () => {
    const ended = start();
    await ended.printed(/^KAFKA_BROKERS=/m);
    const broker = brokerPid();
    process.kill(-(ended.child.pid as number), 'SIGKILL');
    await until('the broker to end', () => !isRunning(broker));
  });

  it('says what is wrong with a port', async () => {
    const ended = await spawnProgram('node', ['scripts/kafka.mjs', '--port=none']).exited;
    expect(ended).toMatchObject({ code: 2, stderr: '--port must be a port, not none.\n' });
  });
});
