/**
 * What comes of input that is wrong, through the running product (issue "The gate", §12; decisions 2, 17): a 4xx with a code of the catalogue
 * in the JSON error body, nothing stored, never a fault of the server.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { WRONG_BODIES } from './bodies.js';
import { converse, wrongBytes } from './connections.js';
import { type Generated, requests, type Who } from './generated.js';
import { mutationsOf } from './mutations.js';
import { METHODS, ROUTES_THAT_ARE_NONE, STRANGE_QUERIES, WRONG_PARAMETERS, WRONG_VALUES } from './parameters.js';
import { bodySchema, examplesOf, queryOf } from './schemas.js';
import { type Answer, faults, ROUTES, type Route, refusalOf, startTarget, type Target } from './target.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
jest.setTimeout(120_000 + RUNS * 50);

let target: Target;
let memory: number;
let pids: number[];
beforeAll(async () => {
  target = await startTarget();
  pids = target.station.topology.inspect().pids;
  memory = megabytes();
});
afterAll(() => target?.stop());

/** Resident memory of the product's processes. */
function megabytes(): number {
  const sizes = target.station.topology
    .inspect()
    .pids.map((pid) => /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return sizes.reduce((sum, size) => sum + Number(size) / 1_024, 0);
}

/** What is stored; taken once for all that store nothing. */
let stored: Record<string, string> | null = null;

/** Whatever is refused leaves nothing behind. */
async function storesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = stored ?? (await target.footprint());
  stored = null;
  expect(await work()).toEqual([]);
  stored = await target.footprint();
  expect(stored).toEqual(before);
}

const JSON_TYPE = { 'content-type': 'application/json' };
const WITH_BODY = ROUTES.filter(({ body }) => body !== undefined);
const WITH_PARAMETER = ROUTES.filter(({ path }) => path.includes('{'));
const id = (route: Route): string => route.id;
/** A body the route takes. */
const rightBody = (route: Route) => (route.body ? JSON.stringify(examplesOf(target.document, route)[0]) : undefined);

it('the footprint tells when something was stored', async () => {
  const before = await target.footprint();
  await target.station.ask();
  expect(await target.footprint()).not.toEqual(before);
});

describe('a body that is wrong whatever the route wants', () => {
  it.each(WRONG_BODIES.map((wrong) => [wrong.name, wrong] as const))('%s', (_, { body, headers, refusal }) =>
    storesNothing(() =>
      faults(WITH_BODY, id, async (route) => {
        const right = examplesOf(target.document, route)[0] ?? {};
        const { status, code } = refusalOf(await target.send(route, { body: body(right), headers }), route);
        if (`${status} ${code}` !== refusal) throw new Error(`It was answered ${status} ${code}, not ${refusal}.`);
      }),
    ),
  );

  it('none, where one is wanted', () =>
    storesNothing(() =>
      faults(
        WITH_BODY.filter(({ bodyOptional }) => !bodyOptional),
        id,
        async (route) => {
          const nothing: Record<string, string>[] = [
            {},
            JSON_TYPE,
            { ...JSON_TYPE, 'content-length': '0' },
            { 'transfer-encoding': 'chunked' },
          ];
          for (const headers of nothing) {
            expect(refusalOf(await target.send(route, { headers }), route).code).toBe('validation_failed');
          }
        },
      ),
    ));
});

describe('a body that breaks what the description says of one place', () => {
  it.each(WITH_BODY.map((route) => [route.id, route] as const))('%s', (_, route) =>
    storesNothing(async () => {
      const mutations = mutationsOf(target.document, bodySchema(target.document, route), examplesOf(target.document, route));
      expect(mutations.length).toBeGreaterThan(5);
      return faults(
        mutations,
        ({ path, how }) => `${path} ${how}`,
        async ({ path, body }) => {
          const { code, param } = refusalOf(await target.send(route, { body: JSON.stringify(body), headers: JSON_TYPE }), route);
          if (code !== 'validation_failed' && code !== 'feature_not_available') throw new Error(`It was answered ${code}.`);
          const place = ['body', path].filter((part) => part !== '').join('.');
          if (!param?.startsWith(place)) throw new Error(`It was told of ${param}, not of ${place}.`);
        },
      );
    }),
  );
});

describe('a parameter of the path that stands for nothing', () => {
  it.each(WRONG_PARAMETERS)('%s', (_, parameter, codes) =>
    storesNothing(() =>
      faults(WITH_PARAMETER, id, async (route) => {
        const prefix = /^[a-z]{3}(?=_)/.exec(target.objectsOf(route)[0] ?? '')?.[0] ?? 'tok';
        const body = rightBody(route);
        const answer = await target.send(route, { parameter: parameter.replace('@', prefix), body, headers: body ? JSON_TYPE : {} });
        const { status, code } = refusalOf(answer, route);
        const told = codes.includes(code) || (codes.includes('not_found') && status === 404 && code !== 'route_not_found');
        if (!told) throw new Error(`It was answered ${status} ${code}, not ${codes.join(' or ')}.`);
      }),
    ),
  );
});

describe('a query', () => {
  const reading = ROUTES.filter(({ method, id }) => method === 'GET' && id !== 'streamEvents');

  it.each(STRANGE_QUERIES.map((query) => [query.slice(0, 60), query]))('that nobody asks for: %s', (_, query) =>
    storesNothing(() =>
      faults(reading, id, async (route) => {
        const answer = await target.send(route, { query: `?${query}` });
        if (answer.status >= 400) refusalOf(answer, route);
      }),
    ),
  );

  it('with a value its parameter does not take is refused, or read as none where HRP reads leniently', () =>
    storesNothing(() =>
      faults(
        ROUTES.flatMap((route) => queryOf(target.document, route).map((parameter) => ({ route, parameter }))).filter(
          ({ parameter }) => parameter.name !== 'ticket',
        ),
        ({ route, parameter }) => `${route.id} ${parameter.name}`,
        async ({ route, parameter: { name, schema } }) => {
          const type = [schema.type ?? 'string'].flat()[0] ?? 'string';
          const wrong = [...(WRONG_VALUES[type] ?? [])];
          if (schema.enum || schema.pattern || schema.format) wrong.push('nonsense', '');
          if (schema.maxLength) wrong.push('x'.repeat(schema.maxLength + 1));
          if (schema.minLength) wrong.push('');
          if (schema.minimum !== undefined) wrong.push(String(schema.minimum - 1));
          if (schema.maximum !== undefined) wrong.push(String(schema.maximum + 1));
          for (const value of wrong) {
            const answer = await target.send(route, { query: `?${name}=${value}` });
            if (schema['x-lenient'] && answer.status === 200) continue;
            const { code, param } = refusalOf(answer, route);
            if (code !== 'validation_failed' && code !== 'invalid_cursor') throw new Error(`${value} was answered ${code}.`);
            if (!param?.includes(name)) throw new Error(`${value} was told of ${param}.`);
          }
          if (type === 'array' || schema['x-lenient']) return;
          const { code } = refusalOf(await target.send(route, { query: `?${name}=1&${name}=2` }), route);
          if (code !== 'validation_failed') throw new Error(`Said twice, it was answered ${code}.`);
        },
      ),
    ));
});

describe('an address', () => {
  it('that is none is not found, and a stranger is not told so', () =>
    storesNothing(() =>
      faults([...ROUTES_THAT_ARE_NONE], String, async (path) => {
        const { authorization = '' } = target.credential(ROUTES.find(({ access }) => access === 'admin') as Route);
        for (const method of METHODS) {
          expect([method, refusalOf(await target.ask(method, path, { authorization })).code]).toEqual([method, 'route_not_found']);
          const told = path.startsWith('/api/') ? 'missing_credentials' : 'route_not_found';
          expect([method, refusalOf(await target.ask(method, path)).code]).toEqual([method, told]);
        }
      }),
    ));

  it('of another method says which it has, to everybody', () =>
    storesNothing(() =>
      faults([...new Set(ROUTES.map(({ path }) => path))], String, async (path) => {
        const here = ROUTES.filter((route) => route.path === path);
        // A word may also be read as the parameter of another route.
        const pattern = (route: Route) => new RegExp(`^${route.path.replace(/\{\w+\}/, '[^/]+')}$`);
        const served: string[] = ROUTES.filter((route) => pattern(route).test(path)).map(({ method }) => method);
        const address = path.replace(/\{\w+\}/, () => target.objectsOf(here[0] as Route)[0] ?? '');
        for (const method of METHODS.filter((one) => !served.includes(one))) {
          for (const headers of [{}, target.credential(here[0] as Route)]) {
            const answer = await target.ask(method, address, headers);
            expect([method, refusalOf(answer).code]).toEqual([method, 'method_not_allowed']);
            for (const one of served) expect(String(answer.headers.allow).split(', ')).toContain(one);
          }
        }
        // What has no content is not asked for by HEAD, and where GET is not served neither is its head.
        if (!served.includes('GET')) expect((await target.ask('HEAD', address, target.credential(here[0] as Route))).status).toBe(405);
      }),
    ));
});

describe('a header', () => {
  it.each([
    ['an identity of one’s own making', { 'countersign-identity': 'eyJhY3RvciI6eyJraW5kIjoicGVyc29uIn19.c2ln' }],
    ['a write that was never seen', { 'countersign-seen': '9999999999999999.9,-1.-1,x,1.1' }],
    ['a tag that is none', { 'if-none-match': 'nonsense"' }],
    ['a project of nobody', { 'x-project-id': 'prj_nobody' }],
    ['a project that is none', { 'x-project-id': '__proto__' }],
    ['an id of 10,000 characters', { 'x-request-id': 'x'.repeat(10_000) }],
    ['an id that would be two headers', { 'x-request-id': 'a\tb' }],
    ['a cookie of 10,000 characters', { cookie: `countersign_session=${'x'.repeat(10_000)}` }],
    ['cookies that are none', { cookie: ';;=;countersign_session=%00%zz; __proto__=1' }],
    ['no language', { 'accept-language': '\u00ff\u00fe', accept: '*/*;q=x' }],
  ])('with %s is refused or means nothing', (_, headers) =>
    storesNothing(() =>
      faults(
        ROUTES.filter(({ method, id }) => method === 'GET' && id !== 'streamEvents'),
        id,
        async (route) => {
          for (const own of [target.credential(route), {}]) {
            const answer = await target.send(route, { headers: { authorization: '', ...own, ...(headers as Record<string, string>) } });
            if (answer.status >= 400) refusalOf(answer, route);
            else if (route.access !== 'public' && own !== undefined && !('authorization' in own)) throw new Error('A stranger was let in.');
          }
        },
      ),
    ),
  );

  it('with a key of idempotency that is too long is refused', () =>
    storesNothing(async () => {
      const route = ROUTES.find(({ id }) => id === 'createReview') as Route;
      const headers = { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(256) };
      const body = JSON.stringify({ template: 'email-draft', payload: {} });
      return [refusalOf(await target.send(route, { headers, body }), route).code].filter((code) => code !== 'validation_failed');
    }));
});

describe('a connection', () => {
  const ASK = JSON.stringify({ template: 'email-draft', payload: { to: 'x', subject: 'x', body: 'x' } });
  const bytes = () => wrongBytes(target.key.bearer ?? '', ASK);

  it('that brings what is no request is told so, and ends', () =>
    storesNothing(async () => {
      const found = await Promise.all(
        bytes().map(async ({ name, pieces, answers: due, everyMs }) => {
          const { answers, text } = await converse(target.station.url, pieces, { everyMs });
          return JSON.stringify(answers) === JSON.stringify(due)
            ? null
            : `${name}: ${JSON.stringify(answers)}, not ${JSON.stringify(due)}\n${text.slice(0, 300)}`;
        }),
      );
      return found.filter((fault) => fault !== null);
    }));

  it('that is cut in the middle of a body has asked for nothing', () =>
    storesNothing(async () => {
      const head = `POST /api/v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.key.bearer}\r\nContent-Type: application/json\r\n`;
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => {
          const cut = ASK.slice(0, 1 + Math.floor((n / 40) * (ASK.length - 1)));
          const framed =
            n % 2 === 0
              ? `Content-Length: ${ASK.length}\r\n\r\n${cut}`
              : `Transfer-Encoding: chunked\r\n\r\n${ASK.length.toString(16)}\r\n${cut}`;
          return converse(target.station.url, [head + framed], { cut: true });
        }),
      );
      return [];
    }));

  it('is one of many that bring a megabyte and do not end, and the memory they take is given back', () =>
    storesNothing(async () => {
      const head = `POST /api/v1/reviews HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.key.bearer}\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n`;
      const almost = Buffer.alloc(1_000_000, ' ');
      const ends = await Promise.all(Array.from({ length: 60 }, () => converse(target.station.url, [head, almost])));
      return ends.map(({ answers }) => answers.join()).filter((answer) => answer !== '408 request_timeout');
    }));
});

describe('whatever is sent', () => {
  const credentials = (who: Who): Record<string, string> => {
    const { admin, reviewer } = target.station;
    const bearer = { admin: admin.bearer, reviewer: reviewer.bearer, key: target.key.bearer, garbage: 'cst_garbage', nobody: null }[who];
    return bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  };

  function judge(answer: Answer, { route, method, parameter }: Generated): void {
    if (answer.status >= 400) refusalOf(answer, method === route.method && typeof parameter === 'number' ? route : undefined);
    else if (method === route.method && typeof parameter === 'number') {
      const type = String(answer.headers['content-type'] ?? '');
      if (type === '' || type.startsWith('application/json')) {
        target.station.answers.check(route.id, answer.status, type, answer.text === '' ? null : JSON.parse(answer.text));
      }
    }
  }

  it(`${RUNS} times, at every route and by anybody, is answered as described, and never with a fault`, async () => {
    const outcomes = new Map<number, number>();
    const send = async (one: Generated) => {
      const { route, method, parameter, query, headers, body, who } = one;
      const objects = target.objectsOf(route);
      const named = typeof parameter === 'number' ? (objects[parameter % objects.length] ?? '') : parameter;
      const address = `${route.path.replace(/\{\w+\}/, () => named)}${query === '' ? '' : `?${query}`}`;
      const answer = await target.ask(method, address, { ...headers, ...credentials(who) }, body ?? undefined);
      outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1);
      judge(answer, one);
    };
    const batch = fc.array(requests(target.document), { minLength: 5, maxLength: 5 });
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

describe('after all that', () => {
  it('the same server goes on: it is ready, its log verifies, and a person decides', async () => {
    const { admin, topology } = target.station;
    expect(topology.inspect().pids).toEqual(pids);
    expect((await target.ask('GET', '/health/ready')).status).toBe(200);
    expect(await admin.do('verifyAudit')).toMatchObject({ valid: true, first_bad: null });
    const { id } = await target.station.ask();
    expect((await admin.act(id, 'approve')).decision).toBe('approved');
  });

  it('no fault was logged', () => {
    expect(target.station.topology.inspect().log).toBe('');
  });

  it('its memory is bounded', () => {
    expect(megabytes() - memory).toBeLessThan(400);
  });
});
