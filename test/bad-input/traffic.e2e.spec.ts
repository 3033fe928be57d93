/** Connections that bring what is no request, and generated requests by anybody at every route (issue "The gate", §12): answered as described, and never with a fault of the server. */
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { converse, wrongBytes } from './connections.js';
import { type Generated, requests, type Who } from './generated.js';
import { Stage } from './stage.js';
import { type Answer, refusalOf } from './target.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
jest.setTimeout(120_000 + RUNS * 50);
const stage = new Stage();

describe('a connection', () => {
  const ASK = JSON.stringify({ template: 'email-draft', payload: { to: 'x', subject: 'x', body: 'x' } });
  const bytes = () => wrongBytes(stage.target.key.bearer ?? '', ASK);

  it('that brings what is no request is told so, and ends', () =>
    stage.storesNothing(async () => {
      const found = await Promise.all(
        bytes().map(async ({ name, pieces, answers: due, everyMs }) => {
          const { answers, text } = await converse(stage.target.server.url, pieces, { everyMs });
          return JSON.stringify(answers) === JSON.stringify(due)
            ? null
            : `${name}: ${JSON.stringify(answers)}, not ${JSON.stringify(due)}\n${text.slice(0, 300)}`;
        }),
      );
      return found.filter((fault) => fault !== null);
    }));

  it('that is cut in the middle of a body has asked for nothing', () =>
    stage.storesNothing(async () => {
      const head = `POST /api/v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stage.target.key.bearer}\r\nContent-Type: application/json\r\n`;
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const cut = ASK.slice(0, 1 + Math.floor((n / 40) * (ASK.length - 1)));
          const framed =
            n % 2 === 0
              ? `Content-Length: ${ASK.length}\r\n\r\n${cut}`
              : `Transfer-Encoding: chunked\r\n\r\n${ASK.length.toString(16)}\r\n${cut}`;
          return converse(stage.target.server.url, [head + framed], { cut: true });
        }),
      );
      return [];
    }));

  it('is one of many that bring a megabyte and do not end, and the memory they take is given back', () =>
    stage.storesNothing(async () => {
      const head = `POST /api/v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${stage.target.key.bearer}\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n`;
      const almost = Buffer.alloc(1_000_000, ' ');
      const ends = await Promise.all(Array.from({ length: 60 }, () => converse(stage.target.server.url, [head, almost])));
      return ends.map(({ answers }) => answers.join()).filter((answer) => answer !== '408 request_timeout');
    }));
});

describe('whatever is sent', () => {
  const credentials = (who: Who): Record<string, string> => {
    const { admin, reviewer } = stage.target.server;
    const bearer = { admin: admin.bearer, reviewer: reviewer.bearer, key: stage.target.key.bearer, garbage: 'cst_garbage', nobody: null }[
      who
    ];
    return bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  };

  function judge(answer: Answer, { route, method, parameter }: Generated): void {
    if (answer.status >= 400) refusalOf(answer, method === route.method && typeof parameter === 'number' ? route : undefined);
    else if (method === route.method && typeof parameter === 'number') {
      const type = String(answer.headers['content-type'] ?? '');
      if (type === '' || type.startsWith('application/json')) {
        stage.target.server.answers.check(route.id, answer.status, type, answer.text === '' ? null : JSON.parse(answer.text));
      }
    }
  }

  it(`${RUNS} times, at every route and by anybody, is answered as described, and never with a fault`, async () => {
    const outcomes = new Map<number, number>();
    const send = async (one: Generated) => {
      const { route, method, parameter, query, headers, body, who } = one;
      const objects = stage.target.objectsOf(route);
      const named = typeof parameter === 'number' ? (objects[parameter % objects.length] ?? '') : parameter;
      const address = `${route.path.replace(/\{\w+\}/, () => named)}${query === '' ? '' : `?${query}`}`;
      const answer = await stage.target.ask(method, address, { ...headers, ...credentials(who) }, body ?? undefined);
      outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1);
      judge(answer, one);
    };
    const batch = fc.array(requests(stage.target.document), { minLength: 5, maxLength: 5 });
    // Several at once, since what is written at once meets other things than what is written in turn.
    await fc.assert(
      fc.asyncProperty(batch, async (all) => {
        await Promise.all(all.map(send));
      }),
      { numRuns: Math.ceil(RUNS / 5), seed: SEED, endOnFailure: true },
    );
    process.stdout.write(`bad input: seed ${SEED}, ${JSON.stringify(Object.fromEntries([...outcomes].sort(([a], [b]) => a - b)))}\n`);
    expect([...outcomes.keys()].filter((status) => status >= 500)).toEqual([]);
    expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(RUNS);
    expect(outcomes.get(200) ?? 0).toBeGreaterThan(RUNS / 50);
  });
});

stage.endsUnharmed();
