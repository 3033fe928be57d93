import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { testBroker } from './index.js';

async function takesConnections(broker: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${broker}`);
  const socket = connect(Number(port), hostname);
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}

describe('the broker for tests', () => {
  beforeAll(() => {
    process.env.DOCKER_HOST = 'tcp://127.0.0.1:1';
  });

  it('is what KAFKA_BROKERS names', async () => {
    const broker = await testBroker('one:9092, two:9092');
    expect(broker).toMatchObject({ brokers: ['one:9092', 'two:9092'], from: 'KAFKA_BROKERS' });
    await broker.stop();
  });

  it('runs on this machine where no Docker answers, and is gone when it stops', async () => {
    const broker = await testBroker(undefined);
    const [address] = broker.brokers as [string];
    expect(broker.from).toBe('this machine');
    expect(await takesConnections(address)).toBe(true);
    await broker.stop();
    expect(await takesConnections(address)).toBe(false);
  }, 120_000);
});
