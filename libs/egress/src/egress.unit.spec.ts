import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createEgress, type Egress, type EgressLimits, type Exchange, type ResolvedAddress } from './index.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const LOOPBACK = ['127.0.0.0/8'];
const BODY = Buffer.from('{"text":"Grüße"}');

describe('post', () => {
  it('sends the exact bytes and headers, and answers the status with the first bytes of the response', async () => {
    let seen: { headers: NodeJS.Dict<string | string[]>; body: Buffer } | undefined;
    const url = await receiver(async (request, response) => {
      seen = { headers: request.headers, body: Buffer.concat(await request.toArray()) };
      response.writeHead(202).end(`fine\0${'x'.repeat(2_000)}`);
    });
    const exchange = await egress().post({ url, headers: { 'content-type': 'application/json', 'X-Webhook-Id': 'whd_1' }, body: BODY });
    expect(exchange).toMatchObject({ status: 202, failure: null, retryAfterSeconds: null });
    expect(exchange.excerpt).toBe(`fine\ufffd${'x'.repeat(1_019)}`);
    expect(seen?.body.equals(BODY)).toBe(true);
    expect(seen?.headers).toMatchObject({ 'x-webhook-id': 'whd_1', 'content-length': String(BODY.length) });
  });

  it('never follows a redirect', async () => {
    let reached = 0;
    const target = await receiver((_, response) => {
      reached += 1;
      response.end();
    });
    for (const location of [target, 'http://169.254.169.254/latest/meta-data/']) {
      const url = await receiver((_, response) => response.writeHead(307, { location }).end());
      expect(await post(url)).toMatchObject({ status: 307, failure: null });
    }
    expect(reached).toBe(0);
  });

  it('gives up when no headers come, and when they drip', async () => {
    const silent = await receiver(() => undefined);
    const dripping = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('X-Drip: 1\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    for (const url of [silent, dripping]) {
      expect(await post(url, { headersMs: 150 })).toMatchObject({ status: null, failure: { stage: 'attempt', code: 'timeout' } });
    }
  });

  it('keeps the status and leaves a body that does not end', async () => {
    const url = await receiver((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
    });
    expect(await post(url, { bodyMs: 150 })).toMatchObject({ status: 200, failure: { stage: 'after', code: 'body_timeout' } });
  });

  it('reads no more than its bound of a huge body and hangs up', async () => {
    let sent = 0;
    let hungUp: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const url = await receiver((_, response) => {
      response.writeHead(200);
      const pump = () => {
        while (sent < 1e9 && !response.destroyed) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536))) break;
        }
      };
      response.on('drain', pump).on('close', hungUp);
      pump();
    });
    expect(await post(url, { bodyBytes: 100_000 })).toMatchObject({ status: 200, failure: { stage: 'after', code: 'body_too_large' } });
    await left;
    expect(sent).toBeLessThan(100_000_000);
  });

  it('tells a body that is cut from one that ends', async () => {
    const url = await rawReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    expect(await post(url)).toMatchObject({ status: 200, excerpt: 'half', failure: { stage: 'after', code: 'body_cut' } });
  });

  it('names a lost connection, a refused one and nonsense', async () => {
    const reset = await rawReceiver((socket) => socket.resetAndDestroy());
    const closed = await rawReceiver((socket) => socket.end());
    const nonsense = await rawReceiver((socket) => socket.end('SMTP is not HTTP\r\n\r\n'));
    const nobody = await unusedAddress();
    expect(await post(reset)).toMatchObject({ status: null, failure: { stage: 'attempt', code: 'connection_lost' } });
    expect(await post(closed)).toMatchObject({ status: null, failure: { stage: 'attempt', code: 'connection_lost' } });
    expect(await post(nonsense)).toMatchObject({ status: null, failure: { stage: 'attempt', code: 'bad_response' } });
    expect(await post(nobody)).toMatchObject({ status: null, failure: { stage: 'before', code: 'connect_failed' } });
  });

  it('says that nothing was sent when a header cannot be written', async () => {
    const url = await receiver((_, response) => response.end());
    const exchange = await egress().post({ url, headers: { 'x-webhook-event': 'a\nb' }, body: BODY });
    expect(exchange).toMatchObject({ status: null, failure: { stage: 'before', code: 'invalid_request' } });
  });

  it('can be ended from outside', async () => {
    const stop = new AbortController();
    const url = await receiver(() => stop.abort());
    const exchange = await egress().post({ url, headers: {}, body: BODY, signal: stop.signal });
    expect(exchange).toMatchObject({ status: null, failure: { code: 'aborted' } });
  });

  it.each([
    ['7', 7],
    ['Mon, 30 Nov 2026 10:00:30 GMT', 30],
    ['Mon, 30 Nov 2026 09:00:00 GMT', 0],
    ['soon', null],
  ])('reads Retry-After %j against the date of the response', async (value, seconds) => {
    const url = await receiver((_, response) => {
      response.writeHead(429, { 'retry-after': value, date: 'Mon, 30 Nov 2026 10:00:00 GMT' }).end();
    });
    expect(await post(url)).toMatchObject({ status: 429, retryAfterSeconds: seconds });
  });
});

describe('addresses', () => {
  it('refuses a reserved address written as the host, and one behind a name, before a connection is made', async () => {
    const { url, connections } = await countingReceiver();
    const strict = egress({ allow: [], answers: [['127.0.0.1']] });
    for (const target of [url, url.replace('127.0.0.1', 'agent.test'), url.replace('127.0.0.1', '[::ffff:127.0.0.1]')]) {
      const exchange = await strict.post({ url: target, headers: {}, body: BODY });
      expect(exchange).toMatchObject({ status: null, failure: { stage: 'before', code: 'address_refused' } });
    }
    expect(connections()).toBe(0);
  });

  it('refuses a name that changed to a reserved address after it was checked (rebinding)', async () => {
    const { url, connections } = await countingReceiver();
    const rebinding = egress({ allow: [], answers: [['93.184.215.14'], ['127.0.0.1']] });
    const target = url.replace('127.0.0.1', 'agent.test');
    expect(await rebinding.checkCallbackUrl(target)).toBeNull();
    expect(await rebinding.post({ url: target, headers: {}, body: BODY })).toMatchObject({ failure: { code: 'address_refused' } });
    expect(connections()).toBe(0);
  });

  it('refuses a name when one of its addresses is reserved', async () => {
    const { url, connections } = await countingReceiver();
    const mixed = egress({ allow: LOOPBACK, answers: [['127.0.0.1', '169.254.169.254']] });
    const exchange = await mixed.post({ url: url.replace('127.0.0.1', 'agent.test'), headers: {}, body: BODY });
    expect(exchange.failure?.code).toBe('address_refused');
    expect(connections()).toBe(0);
  });

  it('connects to the address that was checked: the name is resolved once and never by the system', async () => {
    const { url, connections } = await countingReceiver();
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const pinned = egress({ allow: LOOPBACK, answers });
    const exchange = await pinned.post({ url: url.replace('127.0.0.1', 'name-that-does-not-exist.test'), headers: {}, body: BODY });
    expect(exchange).toMatchObject({ status: 204, failure: null });
    expect(connections()).toBe(1);
  });

  it('tells a name that does not resolve', async () => {
    const exchange = await egress({ answers: ['ENOTFOUND'] }).post({ url: 'http://agent.test/', headers: {}, body: BODY });
    expect(exchange).toMatchObject({ failure: { stage: 'before', code: 'unresolvable' } });
  });
});

describe('checkCallbackUrl', () => {
  it.each([
    'not a url',
    '/relative',
    'ftp://agent.test/x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://user:secret@agent.test/',
    'http://127.0.0.1:4000/hook',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0/',
    `https://agent.test/${'x'.repeat(2_048)}`,
  ])('refuses %s', async (url) => {
    expect(await egress({ allow: [], answers: [['93.184.215.14']] }).checkCallbackUrl(url)).toMatchObject({
      code: 'invalid_callback_url',
      param: 'callback_url',
    });
  });

  it('refuses a name with a reserved address or none at all, and takes one whose name server does not answer', async () => {
    const check = (answer: string[] | string) => egress({ allow: [], answers: [answer] }).checkCallbackUrl('https://agent.test/hook');
    expect(await check(['93.184.215.14', '10.0.0.1'])).toMatchObject({ code: 'invalid_callback_url' });
    expect(await check('ENOTFOUND')).toMatchObject({ code: 'invalid_callback_url' });
    expect(await check('EAI_AGAIN')).toBeNull();
    expect(await check(['93.184.215.14', '2606:4700::1111'])).toBeNull();
  });

  it('resolves localhost with the system, and lets a listed network through', async () => {
    expect(await createEgressForTest({ allowNetworks: [] }).checkCallbackUrl('http://localhost:4000/')).not.toBeNull();
    expect(await createEgressForTest({ allowNetworks: ['127.0.0.0/8', '::1'] }).checkCallbackUrl('http://localhost:4000/')).toBeNull();
  });
});

function egress(options: { allow?: string[]; answers?: (string[] | string)[]; limits?: Partial<EgressLimits> } = {}): Egress {
  const answers = [...(options.answers ?? [])];
  return createEgressForTest({
    allowNetworks: options.allow ?? LOOPBACK,
    limits: options.limits,
    resolve: async (hostname): Promise<ResolvedAddress[]> => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === undefined) throw new Error(`${hostname} was resolved once too often.`);
      if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
      return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
  });
}

function createEgressForTest(options: Parameters<typeof createEgress>[0]): Egress {
  const made = createEgress(options);
  open.push(made);
  return made;
}

function post(url: string, limits: Partial<EgressLimits> = {}): Promise<Exchange> {
  return egress({ limits }).post({ url, headers: { 'content-type': 'application/json' }, body: BODY });
}

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const address = await listening(server);
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return address;
}

async function countingReceiver(): Promise<{ url: string; connections: () => number }> {
  let count = 0;
  const server = createServer((_, response) => response.writeHead(204).end()).on('connection', () => {
    count += 1;
  });
  const url = await listening(server);
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url, connections: () => count };
}

/** Answers bytes of its own once a request has begun to arrive. */
async function rawReceiver(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => answer(socket));
  });
  const url = await listening(server);
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return url;
}

async function unusedAddress(): Promise<string> {
  const server = createServer();
  const url = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}
