import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from '@jest/globals';
import { freePorts } from './free-ports.js';

it('finds ports that are each somebody’s own, and none that the system hands out', async () => {
  const found = (await Promise.all([freePorts(40), freePorts(40)])) as [number[], number[]];
  for (const ports of found) expect(new Set(ports).size).toBe(40);
  for (const port of found.flat()) expect(port >= 20_000 && port < 32_000).toBe(true);
  const servers = found[0].map((port) => createServer().listen(port, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  expect((await freePorts(100)).filter((port) => found[0].includes(port))).toEqual([]);
  for (const server of servers) server.close();
});

it('is none when none is asked for', async () => expect(await freePorts(0)).toEqual([]));
