/** One delivery and many processes: at least once, never twice without need, never again on a replay (worker.ts D1, D5). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { uuidOf } from '@countersign/event-store';
import { Receiver, until } from '@countersign/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function begin(): Promise<{ server: Server; agent: Receiver }> {
  const agent = await new Receiver().listen();
  open.push(agent);
  const server = await startServer();
  open.push(server);
  return { server, agent };
}

describe('several processes', () => {
  it('share the work, and each delivery is sent once', async () => {
    const { server, agent } = await begin();
    await server.startService();
    await server.startService();
    for (let n = 0; n < 30; n++) await server.approved(agent.url('/shared'));
    await until(
      () => agent.at('/shared').length,
      (count) => count >= 60,
    );
    await until(
      () => server.outcomes(),
      (all) => all.length === 60,
    );
    expect(new Set(agent.at('/shared').map((one) => one.headers['x-webhook-id'])).size).toBe(60);
    expect(agent.at('/shared')).toHaveLength(60);
  });

  it('take over a delivery whose process was killed in the middle of an attempt: same id, same bytes', async () => {
    const { server, agent } = await begin();
    await server.pauseWorkers();
    const member = spawnMember(server.db.ownerUrl);
    open.push({ close: async () => void member.kill('SIGKILL') });
    let heard: () => void = () => undefined;
    const attempted = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const review = await server.approved(
      agent.url('/killed', (_, response, nth) => (nth === 1 ? heard() : void response.writeHead(200).end())),
    );
    await server.handleDecision(review);
    await attempted;
    member.kill('SIGKILL');
    await once(member, 'exit');
    await server.startService();
    await server.db.advanceClock(61);
    const done = await server.head(review, (one) => one.status === 'delivered');
    const sent = agent.at('/killed').filter((one) => one.headers['x-webhook-event'] === 'review.action_taken');
    expect(new Set(sent.map((one) => `${one.headers['x-webhook-id']} ${one.body.toString('utf8')}`)).size).toBe(1);
    expect(done.attempts).toBe(2);
    const { body } = await server.call<{ attempt_log: { outcome: string; error: string }[] }>('getDelivery', { params: { id: done.id } });
    expect(body.attempt_log[0]).toMatchObject({ outcome: 'failed', error: expect.stringContaining('process') });
  });

  it('do not lose an attempt that is broken off when its process stops', async () => {
    const { server, agent } = await begin();
    const review = await server.approved(
      agent.url('/stopped', (_, response, nth) => (nth === 1 ? undefined : void response.writeHead(200).end())),
    );
    await until(
      () => agent.at('/stopped').length,
      (count) => count === 1,
    );
    await server.pauseWorkers();
    await server.startService();
    const done = await server.head(review, (one) => one.status === 'delivered');
    expect(done).toMatchObject({ attempts: 2, max_attempts: 10 });
  });
});

describe('a replay of the log', () => {
  it('tells nobody again', async () => {
    const { server, agent } = await begin();
    await server.approved(agent.url('/once'));
    await until(
      () => server.outcomes(),
      (all) => all.length === 2,
    );
    await server.replayLog();
    await server.approved(agent.url('/next'));
    await until(
      () => agent.at('/next').length,
      (count) => count === 2,
    );
    expect(agent.at('/once')).toHaveLength(2);
  });

  it('leaves the deliveries that are there as they are when a batch comes twice', async () => {
    const { server, agent } = await begin();
    const review = await server.approved(agent.url('/twice'));
    await until(
      () => server.outcomes(),
      (all) => all.length === 2,
    );
    await server.handleDecision(review);
    expect(agent.at('/twice')).toHaveLength(2);
    const { rows } = await server.db.pool.query('select id from webhooks.deliveries where review = $1', [uuidOf(review)]);
    expect(rows).toHaveLength(2);
  });
});

function spawnMember(connectionString: string): ChildProcess {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  return spawn(
    process.execPath,
    [
      ...['--disable-warning=ExperimentalWarning', '--experimental-transform-types'],
      ...['--import', join(root, 'libs/testing/jest/source.mjs')],
      join(root, 'services/webhooks/src/fixture/member.ts'),
      connectionString,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: {} },
  );
}
