import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { testBroker } from './index.js';

/** An engine that answers, and has no images. */
const docker = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const known = request.url?.endsWith('/info') ? { OperatingSystem: 'none', OSType: 'linux', Architecture: 'x86_64', Labels: [] } : null;
  response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(known ?? { message: 'no such image here' }));
});
const asked: string[] = [];

beforeAll(async () => {
  docker.listen(0, '127.0.0.1');
  await once(docker, 'listening');
  process.env.DOCKER_HOST = `tcp://127.0.0.1:${(docker.address() as AddressInfo).port}`;
});
afterAll(() => {
  docker.close();
  docker.closeAllConnections();
});

it('the broker for tests is a container where Docker answers', async () => {
  await expect(testBroker(undefined)).rejects.toThrow('no such image here');
  expect(asked).toContainEqual('GET /images/apache/kafka:4.4.0/json');
});
