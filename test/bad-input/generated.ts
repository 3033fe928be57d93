/** Requests nobody would write: any route, any credential, bodies near and far from what it takes. */
import fc from 'fast-check';
import type { OpenApi } from '../e2e/answers.js';
import { FORGED_PLACES, METHODS, STRANGE_QUERIES, WRONG_MOMENTS, WRONG_PARAMETERS } from './parameters.js';
import { examplesOf, queryOf } from './schemas.js';
import { ROUTES, type Route } from './target.js';

export type Who = 'admin' | 'reviewer' | 'key' | 'nobody' | 'garbage';

export interface Generated {
  route: Route;
  who: Who;
  method: string;
  /** A number stands for one of the objects that exist. */
  parameter: string | number;
  query: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Would end the session the next request is to come with, or has no end itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['logout', 'revokeSessions', 'changePassword', 'streamEvents']);
/** Would leave no object of its kind to send the next request to. */
const ENDS_OBJECTS: ReadonlySet<string> = new Set(['revokeSession', 'deleteApiKey', 'removeMember', 'deleteTemplate', 'acceptInvite']);

const FRAGMENTS = [
  '{',
  '}',
  '[',
  ']',
  '"a":',
  '"\\u0061":',
  '"__proto__":',
  '1e400',
  '9007199254740993',
  '-0',
  '"\\ud800"',
  '"\\u0000"',
  ',',
  ':',
  ' ',
  'null',
  'true',
  '"x"',
  '\u0000',
];

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    ' ',
    '__proto__',
    'constructor',
    '\u202e',
    '🤖'.repeat(9),
    'x'.repeat(3_000),
    'role:admin',
    'reviewer@demo.example',
    '2026-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    'rev_01k00000000000000000000000',
    'http://127.0.0.1:9/',
    'http://[::1]:9/',
    'https://127.0.0.1:9/a?b#c',
    'ftp://127.0.0.1/',
  ),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, 0, -0, 1, -1, 1.5, 60, 2 ** 31, 2 ** 53 - 1, 1e308, 5e-324),
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(text, { maxLength: 5 }),
);

/** Addresses of an example are on this machine, where nobody listens. */
const nearby = (example: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(example).replace(/(https?:\/\/)[^/"]+/g, '$1127.0.0.1:9'));

/** Members of the example changed, left out or joined by others. */
function near(example: Record<string, unknown>): fc.Arbitrary<unknown> {
  const names = Object.keys(example);
  const change = fc.tuple(fc.constantFrom(...(names.length > 0 ? names : ['x'])), fc.oneof(value, fc.constant(undefined)));
  return fc
    .tuple(fc.array(change, { maxLength: 3 }), fc.option(fc.tuple(text, value), { freq: 3 }))
    .map(([changes, more]) => ({ ...example, ...Object.fromEntries(changes), ...(more ? Object.fromEntries([more]) : {}) }));
}

function bodyOf(document: OpenApi, route: Route): fc.Arbitrary<Buffer | null> {
  if (route.method === 'GET') return fc.constant(null);
  const examples = examplesOf(document, route).map(nearby);
  const far = fc.oneof(
    fc.constant(null),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json({ maxDepth: 4 }).map((json) => Buffer.from(json)),
    fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
    fc.integer({ min: 60, max: 5_000 }).map((depth) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`)),
  );
  if (examples.length === 0) return far;
  const close = fc.oneof(...examples.map(near)).map((body) => Buffer.from(JSON.stringify(body)));
  return fc.oneof({ weight: 3, arbitrary: close }, { weight: 1, arbitrary: far });
}

function query(document: OpenApi, route: Route): fc.Arbitrary<string> {
  const names = ['wait', 'limit', 'x', ...queryOf(document, route).map(({ name }) => name)].filter((name) => name !== 'ticket');
  // Whoever waits is answered in a minute; that is tried elsewhere.
  const said = (name: string): fc.Arbitrary<string> => {
    if (name === 'wait') return fc.constant('0');
    if (name === 'cursor')
      return fc
        .oneof(fc.constantFrom(...FORGED_PLACES), fc.jsonValue())
        .map((place) => Buffer.from(JSON.stringify(place)).toString('base64url'));
    return fc.oneof(text, fc.constantFrom(...WRONG_MOMENTS), fc.nat().map(String));
  };
  const pair = fc.constantFrom(...names).chain((name) => said(name).map((one) => `${name}=${encodeURIComponent(one.toWellFormed())}`));
  return fc.oneof(
    fc.constant(''),
    fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&')),
    fc.constantFrom(...STRANGE_QUERIES),
  );
}

const parameter = fc.oneof(
  { weight: 2, arbitrary: fc.nat(11) },
  { weight: 1, arbitrary: fc.constantFrom(...WRONG_PARAMETERS.map(([, wrong]) => wrong)) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((said) => encodeURIComponent(said.toWellFormed())),
  },
);

/** What a header can hold: a byte a character. */
const headerText = fc.string({
  unit: fc
    .integer({ min: 0x21, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCharCode(code)),
  maxLength: 60,
});
const headers = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('application/json; charset=utf-8', 'text/plain', ';') },
    ),
    fc.oneof(
      { weight: 7, arbitrary: fc.constant({}) },
      {
        weight: 3,
        arbitrary: fc.dictionary(
          fc.constantFrom(
            'idempotency-key',
            'x-project-id',
            'x-request-id',
            'if-none-match',
            'countersign-seen',
            'countersign-identity',
            'last-event-id',
            'origin',
            'accept',
            'x-forwarded-for',
            'cookie',
            'traceparent',
            'content-encoding',
          ),
          headerText,
          { maxKeys: 3 },
        ),
      },
    ),
  )
  .map(([type, more]): Record<string, string> => ({ ...more, 'content-type': type }));

export function requests(document: OpenApi): fc.Arbitrary<Generated> {
  const each = ROUTES.filter((route) => !LEFT_OUT.has(route.id)).map((route) =>
    fc.record({
      route: fc.constant(route),
      who: fc.oneof(
        { weight: 8, arbitrary: fc.constant<Who>(route.access === 'key' ? 'key' : 'admin') },
        { weight: 2, arbitrary: fc.constantFrom<Who>('admin', 'key', 'reviewer', 'nobody', 'garbage') },
      ),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant(route.method as string) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS.filter((one) => one !== 'DELETE')) },
      ),
      parameter: ENDS_OBJECTS.has(route.id) ? parameter.filter((one) => typeof one === 'string') : parameter,
      query: query(document, route),
      headers,
      body: bodyOf(document, route),
    }),
  );
  return fc.oneof(...each);
}
