import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { until } from '@countersign/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from './proxy.js';

/** What a side of a connection has heard. */
function listening(socket: Socket) {
  const heard = { text: '', ended: false, closed: false, error: '' };
  socket.on('data', (bytes) => {
    heard.text += bytes;
  });
  socket.on('end', () => {
    heard.ended = true;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    heard.error = error.code ?? '';
  });
  socket.on('close', () => {
    heard.closed = true;
  });
  return heard;
}

describe('the fault proxy', () => {
  const accepted: Socket[] = [];
  const clients: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => void accepted.push(socket));
  let proxy: FaultProxy;
  beforeEach(async () => {
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    proxy = await FaultProxy.to({ port: (server.address() as { port: number }).port });
  });
  afterEach(async () => {
    for (const socket of [...clients.splice(0), ...accepted.splice(0)]) socket.destroy();
    await proxy.close();
    server.close();
  });

  /** A client that has said `hello`, and the server's side of it. */
  async function greeted(hello = 'hello') {
    const before = accepted.length;
    const client = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    clients.push(client);
    const back = listening(client);
    client.write(hello);
    await until(
      () => accepted.length,
      (count) => count > before,
    );
    const peer = accepted[before] as Socket;
    const out = listening(peer);
    await until(
      () => out.text,
      (text) => text === hello,
    );
    return { client, back, peer, out };
  }

  it('carries bytes and ends both ways, late where it is told to', async () => {
    const { client, back, peer, out } = await greeted();
    proxy.latency(50);
    const sent = performance.now();
    peer.end('answer');
    await until(
      () => back,
      ({ ended }) => ended,
    );
    expect(back.text).toBe('answer');
    expect(performance.now() - sent).toBeGreaterThanOrEqual(49);
    client.end(' bye');
    await until(
      () => out,
      ({ ended }) => ended,
    );
    expect(out.text).toBe('hello bye');
  });

  it('resets those it is told to, and no others', async () => {
    const [one, other] = [await greeted('one'), await greeted('other')];
    proxy.reset((link) => link.opening === 'one');
    await until(
      () => [one.back, one.out],
      (sides) => sides.every(({ closed }) => closed),
    );
    expect(one.back.error).toBe('ECONNRESET');
    other.client.write('!');
    await until(
      () => other.out.text,
      (text) => text === 'other!',
    );
  });

  it('W2 swallows both ways and tells nobody of an end, and what comes after is carried again', async () => {
    const { client, back, peer, out } = await greeted();
    expect(proxy.blackhole(undefined, 'new')).toBe(1);
    client.write('lost');
    peer.end('lost');
    const late = connect({ port: proxy.port, host: '127.0.0.1' });
    clients.push(late);
    const heard = listening(late);
    late.write('lost as well');
    await until(
      () => accepted.length,
      (count) => count === 2,
    );
    proxy.heal();
    // By then all that was sent before has been read.
    await greeted('later');
    expect([back, out, heard]).toEqual([
      { text: '', ended: false, closed: false, error: '' },
      { text: 'hello', ended: false, closed: false, error: '' },
      { text: '', ended: false, closed: false, error: '' },
    ]);
  });

  it('closes the half that is heard', async () => {
    const { client, back, out } = await greeted();
    proxy.halfClose();
    await until(
      () => back,
      ({ ended }) => ended,
    );
    client.write(' still');
    await until(
      () => out.text,
      (text) => text === 'hello still',
    );
  });

  it.each<[number | 'answer', string, string]>([
    [3, 'helloCOM', ''],
    ['answer', 'helloCOMMIT', ''],
  ])('cuts a message at %s, once', async (at, arrives, answered) => {
    const { client, back, peer, out } = await greeted();
    const happened = proxy.cut('COMMIT', at);
    client.write('COMMIT');
    await until(
      () => out.text,
      (text) => text === arrives,
    );
    if (at === 'answer') peer.write('done');
    await happened;
    await until(
      () => back,
      ({ closed }) => closed,
    );
    expect(back.text).toBe(answered);
    const next = await greeted('COMMIT');
    next.peer.write('done');
    await until(
      () => next.back.text,
      (text) => text === 'done',
    );
  });

  it('refuses while it is down', async () => {
    const { back } = await greeted();
    proxy.down();
    await until(
      () => back,
      ({ closed }) => closed,
    );
    const refused = connect({ port: proxy.port, host: '127.0.0.1' });
    const heard = listening(refused);
    await until(
      () => heard,
      ({ closed }) => closed,
    );
    proxy.heal();
    await greeted();
  });
});
