import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSafeNumber, parse as losslessParse } from 'lossless-json';
import { JsonRefused, MAX_DEPTH, parseJson } from './json.js';

const refusal = (body: string | Uint8Array): string => {
  try {
    parseJson(body);
  } catch (error) {
    if (error instanceof JsonRefused) return error.code;
    throw error;
  }
  return 'taken';
};
const bytes = (...values: number[]) => Buffer.from(values);
const nested = (depth: number) => `${'[{"a":'.repeat(Math.floor(depth / 2))}${depth % 2 ? '[]' : '0'}${'}]'.repeat(Math.floor(depth / 2))}`;

describe('parseJson', () => {
  it.each([
    ['not JSON', '{"a":1,}', 'invalid_json'],
    ['nothing', '', 'invalid_json'],
    ['blanks', ' \n ', 'invalid_json'],
    ['two documents', '{} {}', 'invalid_json'],
    ['a byte order mark', '\ufeff{}', 'invalid_json'],
    ['a raw control character', '"a\u0000b"', 'invalid_json'],
    ['NaN', 'NaN', 'invalid_json'],
    ['half UTF-8', bytes(0x22, 0xe2, 0x82, 0x22), 'invalid_json'],
    ['overlong UTF-8', bytes(0x22, 0xc0, 0xaf, 0x22), 'invalid_json'],
    ['a surrogate in UTF-8', bytes(0x22, 0xed, 0xa0, 0x80, 0x22), 'invalid_json'],
    ['J2 a key twice', '{"a":1,"b":{"a":2},"a":1}', 'json_duplicate_key'],
    ['J2 a key twice, once escaped', '{"a":1,"\\u0061":2}', 'json_duplicate_key'],
    ['J2 a key twice deep inside', '[[{"x":{"k" :1, "k"\n:2}}]]', 'json_duplicate_key'],
    ['J2 the empty key twice', '{"":1,"":2}', 'json_duplicate_key'],
    ['J3 65 levels', nested(65), 'json_too_deep'],
    ['J3 100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'json_too_deep'],
    ['J4 2^53 + 1', '9007199254740993', 'json_unsafe_number'],
    ['J4 too large for a double', '[1e400]', 'json_unsafe_number'],
    ['J4 too small for a double', '-1e-400', 'json_unsafe_number'],
    ['J4 more digits than a double keeps', '0.1234567890123456789', 'json_unsafe_number'],
    ['J4 an exponent beyond all bounds', `1e${'9'.repeat(200)}`, 'json_unsafe_number'],
    ['J5 NUL', '"a\\u0000b"', 'json_invalid_string'],
    ['J5 a lone high surrogate', '"\\ud83d"', 'json_invalid_string'],
    ['J5 a lone low surrogate', '{"k":["\\ude00\\ud83d"]}', 'json_invalid_string'],
    ['J5 a lone surrogate in a key', '{"\\uDEAD":1}', 'json_invalid_string'],
    ['J5 a lone surrogate in a text', '"\ud83d"', 'json_invalid_string'],
    ['J6 __proto__', '{"a":{"__proto__":{"admin":true}}}', 'json_forbidden_key'],
    ['J6 __proto__, escaped', '{"\\u005f_proto__":1}', 'json_forbidden_key'],
  ])('refuses %s', (_, body, code) => {
    expect(refusal(body)).toBe(code);
  });

  it.each([
    ['null', null],
    [' [ ] ', []],
    ['{"a":{"b":1},"b":{"a":1}}', { a: { b: 1 }, b: { a: 1 } }],
    ['[{"k":1},{"k":1}]', [{ k: 1 }, { k: 1 }]],
    ['{"a":"b","b":"a\\"","c":"\\\\"}', { a: 'b', b: 'a"', c: '\\' }],
    ['"{\\"a\\":1,\\"a\\":9007199254740993}"', '{"a":1,"a":9007199254740993}'],
    ['"\\ud83d\\ude00 😀"', '😀 😀'],
    [
      '["constructor",{"constructor":{"prototype":1},"proto":"__proto__"}]',
      ['constructor', { constructor: { prototype: 1 }, proto: '__proto__' }],
    ],
    ['[1.0,1e2,1E+2,0.1,-0,0e999,-0.0e-5,5e-324,1.7976931348623157e308]', [1, 100, 100, 0.1, -0, 0, -0, 5e-324, Number.MAX_VALUE]],
    [
      '[9007199254740992,9007199254740994,123456789012345680000,100000000000000000000000]',
      [2 ** 53, 2 ** 53 + 2, 123456789012345680000, 1e23],
    ],
  ])('takes %s', (body, value) => {
    expect(parseJson(body)).toEqual(value);
    expect(parseJson(Buffer.from(body))).toEqual(value);
  });

  it(`takes ${MAX_DEPTH} levels`, () => {
    expect(refusal(nested(64))).toBe('taken');
  });

  it('says where', () => {
    expect(() => parseJson('{"amount": 12345678901234567890}')).toThrow(
      'The number 12345678901234567890 cannot be represented exactly as a double. Send it as a string (at character 12).',
    );
    expect(() => parseJson('{"a" 1}')).toThrow('The body must be a single valid JSON document (at character 6).');
  });

  it.each([
    ['{"p1":1,"\\\\":1}', '{"p1":1,"\\"":1}', { p1: 1, '"': 1 }],
    ['{"p2":1,"\\\\u00":1}', '{"p2":1,"\\u00e9tat":1}', { p2: 1, état: 1 }],
    ['[{"p3":1,"\\\\\\\\":1}]', '[{"p3":1,"\\\\n":1}]', [{ p3: 1, '\\n': 1 }]],
  ])('J7 is not misled by the keys of an earlier document: %s, then %s', (earlier, text, value) => {
    parseJson(earlier);
    parseJson(earlier);
    expect(parseJson(text)).toEqual(value);
  });

  it('reads a view into a larger buffer', () => {
    expect(parseJson(Buffer.from('xx{"a":1}xx').subarray(2, 9))).toEqual({ a: 1 });
  });

  it('gives any JSON value back as it was', () => {
    fc.assert(
      fc.property(jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
        expect(parseJson(JSON.stringify(value, null, indent))).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with an independent parser on arbitrary documents', () => {
    fc.assert(
      fc.property(document(), (text) => {
        const code = refusal(text);
        expect(code === 'taken').toBe(oracle(text));
        if (code === 'taken') expect(parseJson(text)).toEqual(losslessParse(text, undefined, { parseNumber: Number }));
      }),
      { numRuns: 2_000 },
    );
  });

  it('answers any bytes with a value or a refusal, and nothing else', () => {
    const nearJson = fc.array(
      fc.constantFrom(...'{}[]:,"\\u0d8e1-+.eE \n\u0000\ud800ab'.split(''), '"a":', '__proto__', 'true', 'null', '1e400'),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          nearJson.map((parts) => Buffer.from(parts.join(''))),
        ),
        (body) => {
          expect(refusal(body)).toMatch(/^(taken|invalid_json|json_\w+)$/);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

/**
 * The rules once more, by another hand: lossless-json for numbers, the parsed value for depth and strings, and for keys a count: a key that
 * stands twice, or is swallowed as a prototype, is missing from the value.
 */
function oracle(text: string): boolean {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  const keysOf = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    return Object.values(value).reduce((sum: number, inner) => sum + keysOf(inner), Array.isArray(value) ? 0 : Object.keys(value).length);
  };
  const clean = (value: unknown): boolean => {
    if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(([key, inner]) => clean(key) && key !== '__proto__' && clean(inner));
  };
  let safe = true;
  const value = losslessParse(text, undefined, {
    parseNumber: (literal) => {
      if (!isSafeNumber(literal) && !sameByFixed(literal)) safe = false;
      return Number(literal);
    },
    onDuplicateKey: () => {
      safe = false;
      return undefined;
    },
  });
  const members = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  return safe && keysOf(value) === members && depthOf(value) <= MAX_DEPTH && clean(value);
}

/** Whether the shortest decimal of the double and the literal are the same rational, in whole numbers of 10^-400. */
function sameByFixed(literal: string): boolean {
  const scaled = (decimal: string): bigint => {
    const [mantissa = '', exponent = '0'] = decimal.toLowerCase().split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    const shift = 400 + Number(exponent) - fraction.length;
    const digits = BigInt(`${whole}${fraction}`);
    return shift >= 0
      ? digits * 10n ** BigInt(shift)
      : digits % 10n ** BigInt(-shift) === 0n
        ? digits / 10n ** BigInt(-shift)
        : digits * 10n ** 500n + 1n;
  };
  const value = Number(literal);
  return Number.isFinite(value) && scaled(literal) === scaled(String(value));
}

function jsonValue(): fc.Arbitrary<unknown> {
  const text = fc.string({ unit: 'grapheme' }).filter((s) => !s.includes('\0') && s !== '__proto__');
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      fc.integer(),
      text,
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(text, tie('value'), { maxKeys: 5 }),
    ),
  })).value;
}

/** Well-formed texts that break the other rules often: few keys, odd escapes, hard numbers. */
function document(): fc.Arbitrary<string> {
  const string = fc.constantFrom(
    '"a"',
    '"\\u0061"',
    '"b"',
    '""',
    '"\\""',
    '"\\\\"',
    '"\\u0000"',
    '"\\ud83d"',
    '"\\ud83d\\ude00"',
    '"é"',
    '"__proto__"',
    '"{\\"a\\":1}"',
  );
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 });
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      digits.map((d) => d.replace(/^0+(?=.)/, '')),
      fc.option(digits),
      fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 330 }))),
    )
    .map(([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction ? `.${fraction}` : ''}${exponent ? exponent.join('') : ''}`);
  const blank = fc.constantFrom('', ' ', '\n\t');
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      string,
      number,
      fc.constantFrom('true', 'null'),
      fc.tuple(blank, fc.array(tie('value'), { maxLength: 4 })).map(([b, items]) => `[${items.join(`${b},${b}`)}${b}]`),
      fc
        .tuple(blank, fc.array(fc.tuple(string, tie('value')), { maxLength: 4 }))
        .map(([b, items]) => `{${items.map(([k, v]) => `${b}${k}${b}:${b}${v}`).join(',')}${b}}`),
    ),
  })).value;
}
