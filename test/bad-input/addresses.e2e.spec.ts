/** Addresses, queries and headers that are wrong (issue "The gate", §12; decision 2): a 4xx with a code of the catalogue, nothing stored, never a fault of the server. */
import { describe, expect, it } from '@jest/globals';
import {
  FORGED_PLACES,
  METHODS,
  ROUTES_THAT_ARE_NONE,
  STRANGE_QUERIES,
  WRONG_MOMENTS,
  WRONG_PARAMETERS,
  WRONG_VALUES,
} from './parameters.js';
import { queryOf } from './schemas.js';
import { id, JSON_TYPE, Stage, WITH_PARAMETER } from './stage.js';
import { faults, ROUTES, type Route, refusalOf } from './target.js';

const stage = new Stage();

describe('a parameter of the path that stands for nothing', () => {
  it.each(WRONG_PARAMETERS)('%s', (_, parameter, codes) =>
    stage.storesNothing(() =>
      faults(WITH_PARAMETER, id, async (route) => {
        const prefix = /^[a-z]{3}(?=_)/.exec(stage.target.objectsOf(route)[0] ?? '')?.[0] ?? 'tok';
        const body = stage.rightBody(route);
        const answer = await stage.target.send(route, { parameter: parameter.replace('@', prefix), body, headers: body ? JSON_TYPE : {} });
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
    stage.storesNothing(() =>
      faults(reading, id, async (route) => {
        const answer = await stage.target.send(route, { query: `?${query}` });
        if (answer.status >= 400) refusalOf(answer, route);
      }),
    ),
  );

  it('with a value its parameter does not take is refused, or read as none where HRP reads leniently', () =>
    stage.storesNothing(() =>
      faults(
        ROUTES.flatMap((route) => queryOf(stage.target.document, route).map((parameter) => ({ route, parameter }))).filter(
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
            const answer = await stage.target.send(route, { query: `?${name}=${value}` });
            if (schema['x-lenient'] && answer.status === 200) continue;
            const { code, param } = refusalOf(answer, route);
            if (code !== 'validation_failed' && code !== 'invalid_cursor') throw new Error(`${value} was answered ${code}.`);
            if (!param?.includes(name)) throw new Error(`${value} was told of ${param}.`);
          }
          if (type === 'array' || schema['x-lenient']) return;
          const { code } = refusalOf(await stage.target.send(route, { query: `?${name}=1&${name}=2` }), route);
          if (code !== 'validation_failed') throw new Error(`Said twice, it was answered ${code}.`);
        },
      ),
    ));
});

describe('a place in a list', () => {
  const queried = (name: string) =>
    ROUTES.filter((route) => queryOf(stage.target.document, route).some((parameter) => parameter.name === name));

  it('that no list has made is refused', () =>
    stage.storesNothing(() =>
      faults(
        queried('cursor').flatMap((route) => FORGED_PLACES.map((place) => ({ route, place }))),
        ({ route, place }) => `${route.id} ${JSON.stringify(place)}`,
        async ({ route, place }) => {
          const cursor = Buffer.from(JSON.stringify(place)).toString('base64url');
          const answer = await stage.target.send(route, { query: `?cursor=${cursor}` });
          if (answer.status !== 200) expect(refusalOf(answer, route).code).toBe('invalid_cursor');
        },
      ),
    ));

  it('that is a moment no clock has is refused', () =>
    stage.storesNothing(() =>
      faults(
        queried('from')
          .filter((route) => queryOf(stage.target.document, route).some(({ schema }) => schema.format === 'date-time'))
          .flatMap((route) => WRONG_MOMENTS.map((moment) => ({ route, moment }))),
        ({ route, moment }) => `${route.id} ${moment}`,
        async ({ route, moment }) => {
          const { param } = refusalOf(await stage.target.send(route, { query: `?from=${encodeURIComponent(moment)}` }), route);
          expect(param).toBe('query.from');
        },
      ),
    ));
});

describe('an address', () => {
  it('that is none is not found, and a stranger is not told so', () =>
    stage.storesNothing(() =>
      faults([...ROUTES_THAT_ARE_NONE], String, async (path) => {
        const { authorization = '' } = stage.target.credential(ROUTES.find(({ access }) => access === 'admin') as Route);
        for (const method of METHODS) {
          expect([method, refusalOf(await stage.target.ask(method, path, { authorization })).code]).toEqual([method, 'route_not_found']);
          const told = path.startsWith('/api/') ? 'missing_credentials' : 'route_not_found';
          expect([method, refusalOf(await stage.target.ask(method, path)).code]).toEqual([method, told]);
        }
      }),
    ));

  it('of another method says which it has, to everybody', () =>
    stage.storesNothing(() =>
      faults([...new Set(ROUTES.map(({ path }) => path))], String, async (path) => {
        const here = ROUTES.filter((route) => route.path === path);
        // A word may also be read as the parameter of another route.
        const pattern = (route: Route) => new RegExp(`^${route.path.replace(/\{\w+\}/, '[^/]+')}$`);
        const served: string[] = ROUTES.filter((route) => pattern(route).test(path)).map(({ method }) => method);
        const address = path.replace(/\{\w+\}/, () => stage.target.objectsOf(here[0] as Route)[0] ?? '');
        for (const method of METHODS.filter((one) => !served.includes(one))) {
          for (const headers of [{}, stage.target.credential(here[0] as Route)]) {
            const answer = await stage.target.ask(method, address, headers);
            expect([method, refusalOf(answer).code]).toEqual([method, 'method_not_allowed']);
            for (const one of served) expect(String(answer.headers.allow).split(', ')).toContain(one);
          }
        }
        // What has no content is not asked for by HEAD, and where GET is not served neither is its head.
        if (!served.includes('GET'))
          expect((await stage.target.ask('HEAD', address, stage.target.credential(here[0] as Route))).status).toBe(405);
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
    stage.storesNothing(() =>
      faults(
        ROUTES.filter(({ method, id }) => method === 'GET' && id !== 'streamEvents'),
        id,
        async (route) => {
          for (const own of [stage.target.credential(route), {}]) {
            const answer = await stage.target.send(route, {
              headers: { authorization: '', ...own, ...(headers as Record<string, string>) },
            });
            if (answer.status >= 400) refusalOf(answer, route);
            else if (route.access !== 'public' && own !== undefined && !('authorization' in own)) throw new Error('A stranger was let in.');
          }
        },
      ),
    ),
  );

  it('with a key of idempotency that is too long is refused', () =>
    stage.storesNothing(async () => {
      const route = ROUTES.find(({ id }) => id === 'createReview') as Route;
      const headers = { ...JSON_TYPE, 'idempotency-key': 'x'.repeat(256) };
      const body = JSON.stringify({ template: 'email-draft', payload: {} });
      return [refusalOf(await stage.target.send(route, { headers, body }), route).code].filter((code) => code !== 'validation_failed');
    }));
});

stage.endsUnharmed();
