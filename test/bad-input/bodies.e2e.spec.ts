/** Bodies that are wrong (issue "The gate", §12; decisions 2, 17): a 4xx with a code of the catalogue in the JSON error body, nothing stored, never a fault of the server. */
import { describe, expect, it } from '@jest/globals';
import { WRONG_BODIES } from './bodies.js';
import { boundsOf, mutationsOf } from './mutations.js';
import { bodySchema, examplesOf } from './schemas.js';
import { id, JSON_TYPE, Stage, WITH_BODY } from './stage.js';
import { faults, refusalOf } from './target.js';

const stage = new Stage();

it('the footprint tells when something was stored', async () => {
  const before = await stage.target.footprint();
  await stage.target.server.ask();
  expect(await stage.target.footprint()).not.toEqual(before);
});

describe('a body that is wrong whatever the route wants', () => {
  it.each(WRONG_BODIES.map((wrong) => [wrong.name, wrong] as const))('%s', (_, { body, headers, refusal }) =>
    stage.storesNothing(() =>
      faults(WITH_BODY, id, async (route) => {
        const right = examplesOf(stage.target.document, route)[0] ?? {};
        const { status, code } = refusalOf(await stage.target.send(route, { body: body(right), headers }), route);
        if (`${status} ${code}` !== refusal) throw new Error(`It was answered ${status} ${code}, not ${refusal}.`);
      }),
    ),
  );

  it('none, where one is wanted', () =>
    stage.storesNothing(() =>
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
            expect(refusalOf(await stage.target.send(route, { headers }), route).code).toBe('validation_failed');
          }
        },
      ),
    ));
});

describe('a body that breaks what the description says of one place', () => {
  it.each(WITH_BODY.map((route) => [route.id, route] as const))('%s', (_, route) =>
    stage.storesNothing(async () => {
      const mutations = mutationsOf(
        stage.target.document,
        bodySchema(stage.target.document, route),
        examplesOf(stage.target.document, route),
      );
      expect(mutations.length).toBeGreaterThan(5);
      return faults(
        mutations,
        ({ path, how }) => `${path} ${how}`,
        async ({ path, body }) => {
          const { code, param } = refusalOf(await stage.target.send(route, { body: JSON.stringify(body), headers: JSON_TYPE }), route);
          if (code !== 'validation_failed' && code !== 'feature_not_available') throw new Error(`It was answered ${code}.`);
          const place = ['body', path].filter((part) => part !== '').join('.');
          if (!param?.startsWith(place)) throw new Error(`It was told of ${param}, not of ${place}.`);
        },
      );
    }),
  );
});

describe('a body that goes to the end of what is allowed', () => {
  it('is taken or refused, and no fault', () =>
    stage.stores(async () => {
      // A session that ends would leave nobody to send the rest.
      const routes = WITH_BODY.filter((route) => route.id !== 'revokeSessions');
      const bodies = routes.flatMap((route) =>
        boundsOf(stage.target.document, bodySchema(stage.target.document, route), examplesOf(stage.target.document, route)[0]).map(
          (bound) => ({
            route,
            bound,
          }),
        ),
      );
      expect(bodies.length).toBeGreaterThan(80);
      return faults(
        bodies,
        ({ route, bound }) => `${route.id} ${bound.path} ${bound.how}`,
        async ({ route, bound }) => {
          const answer = await stage.target.send(route, { body: JSON.stringify(bound.body), headers: JSON_TYPE });
          if (answer.status >= 400) refusalOf(answer, route);
        },
      );
    }));
});

stage.endsUnharmed();
