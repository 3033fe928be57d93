import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { Upstreams } from './upstreams.js';

const servers: Server[] = [];
const dispatcher = new Agent();
let upstreams: Upstreams | undefined;
afterEach(async () => {
  upstreams?.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A process that says whether it is ready, and counts how often it was asked. */
async function process(ready: { now: boolean; asked?: number }): Promise<string> {
  const server = createServer((_, response) => {
    ready.asked = (ready.asked ?? 0) + 1;
    response.writeHead(ready.now ? 200 : 503).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const asked = async (times: number): Promise<Set<string | undefined>> => {
  const origins = new Set<string | undefined>();
  for (let time = 0; time < times; time++) origins.add(await upstreams?.next());
  return origins;
};
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 15_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > deadline) throw new Error('Waited 15 s in vain.');
  }
}

describe('Upstreams', () => {
  it('U3 asks those that are ready in turn', async () => {
    const [one, two] = [await process({ now: true }), await process({ now: true })];
    upstreams = new Upstreams({ urls: [one, two], dispatcher });
    expect([await upstreams.next(), await upstreams.next(), await upstreams.next()]).toEqual([one, two, one]);
  });

  it('U2 leaves out one that says it is not ready, until it says that it is', async () => {
    const state = { now: false };
    const [one, two] = [await process(state), await process({ now: true })];
    upstreams = new Upstreams({ urls: [one, two], dispatcher });
    await until(async () => !(await asked(4)).has(one));
    state.now = true;
    await until(async () => (await asked(4)).has(one));
  });

  it('U2 leaves out one that failed, asks another that was not tried, and tries all when none is ready', async () => {
    const [one, two] = [await process({ now: true }), await process({ now: true })];
    upstreams = new Upstreams({ urls: [one, two], dispatcher });
    upstreams.failed(one);
    expect(await asked(3)).toEqual(new Set([two]));
    expect(await upstreams.next(new Set([two]))).toBe(two);
    upstreams.failed(two);
    expect(await asked(4)).toEqual(new Set([one, two]));
  });

  it('U4 asks for readiness where somebody calls and there is a choice, and nowhere else', async () => {
    const states = Array.from({ length: 5 }, (): { now: boolean; asked?: number } => ({ now: true }));
    const [one, two, idle, other, only] = await Promise.all(states.map(process));
    const uncalled = new Upstreams({ urls: [idle as string, other as string], dispatcher });
    const single = new Upstreams({ urls: [only as string], dispatcher });
    upstreams = new Upstreams({ urls: [one as string, two as string], dispatcher });
    await until(
      async () => (await asked(1)) && (await single.next()) === only && states.slice(0, 2).every((state) => (state.asked ?? 0) > 2),
    );
    uncalled.close();
    single.close();
    expect(states.slice(2).map((state) => state.asked)).toEqual([undefined, undefined, undefined]);
  });

  it('U1 takes a name for every address it has', async () => {
    const { port } = new URL(await process({ now: true }));
    upstreams = new Upstreams({ urls: [`http://intake:${port}`], dispatcher, resolve: async () => ['127.0.0.1', '::1'] });
    expect(await asked(4)).toEqual(new Set([`http://127.0.0.1:${port}`, `http://[::1]:${port}`]));
  });

  it('U1 looks a name up again, and goes where it leads by then', async () => {
    const { port } = new URL(await process({ now: true }));
    let address = '127.0.0.1';
    upstreams = new Upstreams({ urls: [`http://intake:${port}`], dispatcher, resolve: async () => [address] });
    expect(await asked(2)).toEqual(new Set([`http://127.0.0.1:${port}`]));
    address = '127.0.0.2';
    await until(async () => !(await asked(2)).has(`http://127.0.0.1:${port}`));
    expect(await asked(2)).toEqual(new Set([`http://127.0.0.2:${port}`]));
  });

  it('has nobody to ask when a name is unknown', async () => {
    upstreams = new Upstreams({ urls: ['http://nowhere:1'], dispatcher, resolve: async () => Promise.reject(new Error('unknown')) });
    expect(await upstreams.next()).toBeUndefined();
  });
});
