/** Addresses that are wrong: parameters of the path and of the query, routes that are none. */

/** Written into the path as they are. What an id is not is not found; what an address is not is no request. */
export const WRONG_PARAMETERS: readonly (readonly [name: string, parameter: string, codes: readonly string[]])[] = [
  ['nothing', '', ['route_not_found']],
  ['another id of its form', '@_01k00000000000000000000000', ['not_found']],
  ['an id in capitals', '@_01K00000000000000000000000', ['not_found']],
  ['an id beyond all', '@_8zzzzzzzzzzzzzzzzzzzzzzzzz', ['not_found']],
  ['an id of letters no id has', '@_01kiloukiloukiloukiloukilo', ['not_found']],
  ['an id that is too short', '@_01k', ['not_found']],
  ['a prefix alone', '@_', ['not_found']],
  ['an id of another kind', 'evt_01k00000000000000000000000', ['not_found']],
  ['a UUID', '0199d0e8-7d3a-7cc3-98c4-dc0c0c07398f', ['not_found']],
  ['a space before', '%20@_01k00000000000000000000000', ['not_found']],
  ['a new line after', '@_01k00000000000000000000000%0a', ['not_found']],
  ['a quote', "'%20or%201=1--", ['not_found']],
  ['a slash inside', 'a%2fb', ['not_found', 'route_not_found']],
  ['a backslash inside', 'a%5cb', ['not_found', 'route_not_found']],
  ['dots that lead up', '%2e%2e', ['route_not_found', 'method_not_allowed']],
  ['dots that lead up, further', '..%2f..%2finternal%2fready', ['not_found', 'route_not_found']],
  ['a question', 'a%3fb=c', ['not_found']],
  ['a semicolon', 'a;b=c', ['not_found']],
  ['__proto__', '__proto__', ['not_found']],
  ['constructor', 'constructor', ['not_found']],
  ['toString', 'toString', ['not_found']],
  ['signs of another script', '%F0%9F%A4%96%E2%80%AE', ['not_found']],
  ['a wide character', '%EF%BC%8E%EF%BC%8E', ['not_found']],
  ['255 characters', 'a'.repeat(255), ['not_found']],
  ['400 characters', 'a'.repeat(400), ['validation_failed', 'not_found']],
  ['600 characters', 'a'.repeat(600), ['uri_too_long']],
  ['5,000 characters', 'a'.repeat(5_000), ['uri_too_long']],
  ['NUL', '%00', ['invalid_request']],
  ['NUL inside', 'a%00b', ['invalid_request']],
  ['a percent sign alone', '%', ['invalid_request']],
  ['a percent sign and no digits', '%zz', ['invalid_request']],
  ['half of a percent sign', '%e', ['invalid_request']],
  ['bytes that are no UTF-8', '%ff%fe', ['invalid_request']],
  ['an overlong sequence', '%c0%af', ['invalid_request']],
  ['a surrogate', '%ed%a0%80', ['invalid_request']],
];

/** Queries that no operation asks for: they are not read, or refused; nothing comes of them. */
export const STRANGE_QUERIES: readonly string[] = [
  'nobody=asked',
  '__proto__=1&constructor=2&prototype=3&toString=4&hasOwnProperty=5',
  '__proto__[admin]=1',
  'a[b][c]=1&a[]=2',
  '=&&=&',
  '%',
  '%zz=%ff',
  'a=%ED%A0%80',
  '%F0%9F%A4%96=%E2%80%AE',
  'a=b;c=d',
  '?a=b?c=d#e',
  `a=${'b'.repeat(8_000)}`,
  Array.from({ length: 1_500 }, (_, i) => `a${i}=`).join('&'),
  Array.from({ length: 1_500 }, () => 'a=b').join('&'),
];

/** Values no parameter of a type takes. */
export const WRONG_VALUES: Record<string, readonly string[]> = {
  integer: ['x', '', '1.5', '1e2', '0x10', '%2B1', '%201', '99999999999999999999', 'NaN', 'null', '%F0%9F%A4%96', '%D9%A1'],
  boolean: ['yes', '', '2', 'TRUE', 'null', '%E2%80%AE'],
};

const REVIEW = 'rev_01k00000000000000000000000';
const DELIVERY = 'whd_01k00000000000000000000000';
const AT = '2026-01-01T00:00:00.000Z';

/** Places no list has made: of another shape, and of values that Node reads and PostgreSQL does not. */
export const FORGED_PLACES: readonly unknown[] = [
  null,
  '',
  'x',
  1,
  -1,
  1.5,
  1e300,
  -(2 ** 53),
  [],
  {},
  [1],
  [1, AT, 'x'],
  [1, AT, DELIVERY],
  [1e300, AT, REVIEW],
  [1.5, AT, REVIEW],
  [-99_999, AT, REVIEW],
  [null, null, null],
  ...[
    '5',
    '',
    'now',
    '2026-01-01 (a remark)',
    '2026-02-31T00:00:00.000Z',
    '+275760-09-13T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999Z',
    'infinity',
    '0',
  ].flatMap((time) => [[1, time, REVIEW], [time, REVIEW], { at: time, id: DELIVERY }]),
  [AT, 'rev_\u0000'],
  [1, AT, '\ud800'],
  { at: AT, id: REVIEW },
  { at: AT, id: { toString: 1 } },
];

/** Moments that are none, or none a clock here can hold. */
export const WRONG_MOMENTS: readonly string[] = [
  'now',
  'yesterday',
  '1767225600',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+23:59',
  '2026-01-01T00:00:00-16:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  'infinity',
];

export const ROUTES_THAT_ARE_NONE: readonly string[] = [
  '/api/v1/nothing',
  '/api/v2/reviews',
  '/api/v1//reviews',
  '/API/V1/REVIEWS',
  '/api/v1/reviews/a/b/c',
  '/api/v1/templates/a/b',
  '/api/v1/auth',
  '/api/v1/settings',
  '/internal/ready',
  '/internal/authenticate',
  '/api/v1/internal/ready',
  '/api/v1/../internal/ready',
  '/health/',
  '/.git/config',
  '/assets/..%2f..%2fpackage.json',
  '/index.html/../../package.json',
  '/wp-login.php',
];

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT', 'MOVE'] as const;
