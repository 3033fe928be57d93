import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLogger } from '@countersign/telemetry';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Problem } from './index.js';
import { createHttpApp } from './service/service-app.js';

let release = () => {};
let reached = Promise.withResolvers<void>();

@Controller()
class OddController {
  @Get('quick')
  quick() {
    return { quick: true };
  }
  @Get('held')
  async held() {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    reached.resolve();
    await held;
    return { held: true };
  }
  @Get('endless')
  endless(@Res() reply: FastifyReply) {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/plain' });
    reply.raw.write('begun');
  }
  @Post('refused')
  refused() {}
}

@Module({ controllers: [OddController] })
class OddModule {}

let app: NestFastifyApplication;
let port: number;
beforeAll(async () => {
  app = await createHttpApp(OddModule, {
    logger: createLogger({ service: 'gateway', level: 'silent' }),
    server: { requestTimeout: 200, http: { headersTimeout: 200, connectionsCheckingInterval: 20 } },
    prepare: (fastify) => {
      fastify.addHook('onRequest', async ({ url }) => {
        if (url === '/refused') throw new Problem('missing_token');
      });
      fastify.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => body);
    },
  });
  await app.listen(0, '127.0.0.1');
  port = Number(new URL(await app.getUrl()).port);
});
afterAll(() => app.close());

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  reached = Promise.withResolvers<void>();
});

/** Sends bytes. `text` is what came back so far; `ended` waits until the server has ended the connection. */
function raw(bytes: string, at = port) {
  const socket = connect(at, '127.0.0.1', () => socket.write(bytes));
  sockets.push(socket);
  const conversation = { socket, text: '', ended: Promise.race([once(socket, 'close'), once(socket, 'end')]) };
  socket.setEncoding('latin1').on('data', (part: string) => {
    conversation.text += part;
  });
  socket.on('error', () => {});
  return conversation;
}

const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as { error: { code: string } };

describe('X1 what is no request', () => {
  it.each([
    ['another expectation', 'GET /quick HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n\r\n', 400, 'invalid_request'],
    ['no host', 'GET /quick HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['two hosts', 'GET /quick HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['an address nobody can read', 'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['no HTTP', '\x16\x03\x01\x00\xdc', 400, 'invalid_request'],
    ['too many headers', `GET /quick HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['headers that do not end', 'GET /quick HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout'],
    ['a body that does not come', 'POST /quick HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{', 408, 'request_timeout'],
  ])('%s', async (_, bytes, status, code) => {
    const said = raw(bytes);
    await said.ended;
    expect(said.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(bodyOf(said.text).error.code).toBe(code);
    expect(said.text).toMatch(/^X-Request-Id: [\w-]{36}\r$/im);
  });

  it('but HTTP/1.0 needs no host', async () => {
    const said = raw('GET /quick HTTP/1.0\r\n\r\n');
    await said.ended;
    expect(said.text).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('X2 one request, one answer', () => {
  const answers = (text: string) => text.match(/HTTP\/1\.1 \d+/g);

  it('when it was refused before its body, which then does not come', async () => {
    const said = raw('POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    await said.ended;
    expect(answers(said.text)).toEqual(['HTTP/1.1 401']);
  });

  it('when something broken comes behind it while it is served', async () => {
    const said = raw('GET /held HTTP/1.1\r\nHost: x\r\n\r\n');
    await reached.promise;
    said.socket.write('broken\r\n\r\n');
    // The server has read it once it answers somebody who came later.
    await fetch(`http://127.0.0.1:${port}/quick`);
    release();
    await said.ended;
    expect(answers(said.text)).toEqual(['HTTP/1.1 200']);
    expect(bodyOf(said.text)).toEqual({ held: true });
  });

  it('when something broken comes into an answer that has begun', async () => {
    const said = raw('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(said.socket, 'data');
    said.socket.write('broken\r\n\r\n');
    await said.ended;
    expect(answers(said.text)).toEqual(['HTTP/1.1 200']);
    expect(said.text).not.toContain('error');
  });

  it('and another for what is broken after it', async () => {
    const said = raw('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(said.socket, 'data');
    said.socket.write('broken\r\n\r\n');
    await said.ended;
    expect(answers(said.text)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
});

it('X3 tells what comes while the process closes to come again, and does not do it', async () => {
  const closing = Promise.withResolvers<void>();
  const other = await createHttpApp(OddModule, {
    logger: createLogger({ service: 'gateway', level: 'silent' }),
    prepare: (fastify) => void fastify.addHook('preClose', async () => closing.resolve()),
  });
  await other.listen(0, '127.0.0.1');
  const said = raw('GET /held HTTP/1.1\r\nHost: x\r\n\r\n', Number(new URL(await other.getUrl()).port));
  await reached.promise;
  const closed = other.close();
  await closing.promise;
  const arrived = once(other.getHttpServer(), 'request');
  said.socket.write('GET /quick HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived;
  release();
  await said.ended;
  await closed;
  const [held, late] = said.text.split(/(?=HTTP\/1\.1 503)/);
  expect(held).toMatch(/^HTTP\/1.1 200 /);
  expect(late).toMatch(/^HTTP\/1.1 503 /);
  expect(late).toMatch(/^retry-after: 1\r$/im);
  expect(late).toMatch(/^connection: close\r$/im);
  expect(late).toMatch(/^x-request-id: [\w-]{36}\r$/im);
  expect(bodyOf(late as string).error).toMatchObject({
    type: 'service_unavailable',
    code: 'service_unavailable',
    doc_url: expect.any(String),
  });
});
