/** Bytes that are no request, or stop being one, sent over a socket of their own. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Conversation {
  /** Everything that came back. */
  text: string;
  /** Status and code of each answer, in order; what refuses and names no request id says so. */
  answers: string[];
}

/**
 * Sends pieces, and reads until the server ends the connection.
 * @param script.everyMs sends the pieces so far apart.
 * @param script.cut ends it ourselves after the last piece, without waiting for an answer.
 */
export async function converse(
  url: string,
  pieces: readonly (string | Buffer)[],
  script: { everyMs?: number; cut?: boolean } = {},
): Promise<Conversation> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const conversation: Conversation = { text: '', answers: [] };
  socket.setEncoding('latin1').on('data', (part: string) => {
    conversation.text += part;
  });
  const ended = Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {});
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    if (script.everyMs !== undefined) await sleep(script.everyMs);
  }
  if (script.cut) await flushed(socket);
  else await ended;
  socket.destroy();
  conversation.answers = answersIn(conversation.text);
  return conversation;
}

async function flushed(socket: Socket): Promise<void> {
  while (socket.writableLength > 0) await once(socket, 'drain');
}

function answersIn(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '' && !part.startsWith('HTTP/1.1 100 '))
    .map((part) => {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(part) ?? [];
      const [, code] = /"code":"([\w.]+)"/.exec(part) ?? [];
      if (code === undefined) return String(status);
      return /^X-Request-Id: [\w.-]{8,128}\r$/im.test(part) ? `${status} ${code}` : `${status} ${code} without a request id`;
    });
}

export interface WrongBytes {
  name: string;
  pieces: (string | Buffer)[];
  /** What is answered before the connection ends; none where HTTP leaves nothing to say. */
  answers: string[];
  everyMs?: number;
}

/** @param key of somebody who may ask. @param ask a request body that would be taken. */
export function wrongBytes(key: string, ask: string): WrongBytes[] {
  const host = 'Host: countersign.example\r\n';
  const own = `${host}Authorization: Bearer ${key}\r\n`;
  const json = `${own}Content-Type: application/json\r\n`;
  const post = 'POST /api/v1/reviews HTTP/1.1\r\n';
  const get = 'GET /api/v1/reviews HTTP/1.1\r\n';
  const length = Buffer.byteLength(ask);
  const half = ask.slice(0, length / 2);
  const wrong = (name: string, text: string | Buffer | (string | Buffer)[], answers: string[], everyMs?: number): WrongBytes => ({
    name,
    pieces: [text].flat(),
    answers,
    ...(everyMs === undefined ? {} : { everyMs }),
  });
  const close = 'Connection: close\r\n';
  const noRequest = ['400 invalid_request'];
  return [
    wrong('a greeting of TLS', Buffer.from('16030100dc010000d80303', 'hex'), noRequest),
    wrong('a greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', noRequest),
    wrong('zeros', Buffer.alloc(4_096), noRequest),
    wrong('a method nobody has', `BREW /api/v1/reviews HTTP/1.1\r\n${own}\r\n`, noRequest),
    wrong('a tunnel', `CONNECT evil.example:80 HTTP/1.1\r\n${host}\r\n`, []),
    wrong('a trace', `TRACE /api/v1/reviews HTTP/1.1\r\n${own}${close}\r\n`, ['405 method_not_allowed']),
    wrong('no host', `${get}Authorization: Bearer ${key}\r\n${close}\r\n`, noRequest),
    wrong('two hosts', `${get}${own}Host: other.example\r\n${close}\r\n`, noRequest),
    wrong('a space before a colon', `${get}Host : x\r\n\r\n`, noRequest),
    wrong('a header on two lines', `${get}${host}X-A: a\r\n b\r\n\r\n`, noRequest),
    wrong('line feeds alone', 'GET /health HTTP/1.1\nHost: x\n\n', noRequest),
    wrong('NUL in a header', `${get}${host}X-A: a\u0000b\r\n\r\n`, noRequest),
    wrong(
      'bytes in an address',
      Buffer.concat([Buffer.from('GET /api/v1/reviews/'), Buffer.from([0xff, 0xc3]), Buffer.from(` HTTP/1.1\r\n${own}\r\n`)]),
      noRequest,
    ),
    wrong('a header without end', `${get}${own}X-A: ${'a'.repeat(20_000)}\r\n\r\n`, ['431 headers_too_large']),
    wrong('three thousand headers', `${get}${own}${Array.from({ length: 3_000 }, (_, i) => `A${i}: b\r\n`).join('')}\r\n`, [
      '431 headers_too_large',
    ]),
    wrong('an address without end', `GET /api/v1/reviews?a=${'a'.repeat(20_000)} HTTP/1.1\r\n${own}\r\n`, ['431 headers_too_large']),
    wrong('an expectation nobody has', `${post}${json}Expect: the-unexpected\r\nContent-Length: ${length}\r\n\r\n${ask}`, noRequest),
    wrong('a length and a coding', `${post}${json}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, noRequest),
    wrong('two lengths', `${post}${json}Content-Length: ${length}\r\nContent-Length: 4\r\n\r\n${ask}`, noRequest),
    wrong('a length of words', `${post}${json}Content-Length: ten\r\n\r\n${ask}`, noRequest),
    wrong('a length below nothing', `${post}${json}Content-Length: -1\r\n\r\n${ask}`, noRequest),
    wrong('a length beyond all', `${post}${json}Content-Length: 99999999999999999999\r\n\r\n${ask}`, noRequest),
    wrong('a length that is too large', `${post}${json}Content-Length: 1048577\r\n\r\n${ask}`, ['413 payload_too_large']),
    wrong('a coding that is not chunked', `${post}${json}Transfer-Encoding: gzip\r\n\r\n${ask}`, noRequest),
    wrong('a chunk of no size', `${post}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n${ask}\r\n0\r\n\r\n`, noRequest),
    wrong('a chunk that is longer than it says', `${post}${json}Transfer-Encoding: chunked\r\n\r\n2\r\n${ask}\r\n0\r\n\r\n`, noRequest),
    wrong('headers that do not end', `${post}${own}`, ['408 request_timeout']),
    wrong('headers that come letter by letter', `${post}${json}`.split(''), ['408 request_timeout'], 40),
    wrong('a body that does not come', `${post}${json}Content-Length: ${length}\r\n\r\n`, ['408 request_timeout']),
    wrong('a body that stops', `${post}${json}Content-Length: ${length}\r\n\r\n${half}`, ['408 request_timeout']),
    wrong(
      'a body that comes letter by letter',
      [`${post}${json}Content-Length: ${length}\r\n\r\n`, ...ask.split('')],
      ['408 request_timeout'],
      60,
    ),
    wrong('chunks that stop', `${post}${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`, ['408 request_timeout']),
    wrong('a body somebody waits to send who may not', `${post}${host}Content-Length: 1000\r\n\r\n{`, ['401 missing_api_key']),
    wrong('nothing at all', '', ['408 request_timeout']),
    wrong('a request, and then none', `GET /health HTTP/1.1\r\n${host}\r\nnothing\r\n\r\n`, ['200']),
    wrong('a request twice at once, and then none', `${`GET /health HTTP/1.1\r\n${host}\r\n`.repeat(2)}nothing\r\n\r\n`, ['200', '200']),
    wrong(
      'a request, and another smuggled in its body',
      `GET /health HTTP/1.1\r\n${host}${close}Content-Length: 44\r\n\r\nDELETE /api/v1/reviews/x HTTP/1.1\r\nHost: x\r\n\r\n`,
      ['200'],
    ),
    wrong('a body that is let come, and does not', `${post}${json}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`, [
      '408 request_timeout',
    ]),
    wrong('a body that is too large to be let come', `${post}${json}Expect: 100-continue\r\nContent-Length: 1048577\r\n\r\n`, [
      '413 payload_too_large',
    ]),
  ];
}
