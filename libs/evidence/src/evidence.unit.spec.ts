import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize, differingPaths, digest, digestBytes, equalJson, MAX_DEPTH, NotCanonicalError } from './index.js';

/** IEEE 754 bits → text: RFC 8785 appendix B. */
const NUMBERS: [string, string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

const fromBits = (hex: string): number => Buffer.from(hex, 'hex').readDoubleBE(0);

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

function whyNot(value: unknown): { reason: string; path: string } {
  try {
    canonicalize(value);
  } catch (error) {
    if (error instanceof NotCanonicalError) return { reason: error.reason, path: error.path };
    throw error;
  }
  throw new Error('was accepted');
}

/** Any JSON value but one C2 refuses. */
const json = () =>
  fc
    .jsonValue({ maxDepth: 4 })
    .map((value) => JSON.stringify(value))
    .filter((text) => !text.includes('__proto__'))
    .map((text) => JSON.parse(text) as unknown);

describe('canonicalize', () => {
  it.each(NUMBERS)('writes the double %s as %s (RFC 8785, appendix B)', (bits, text) => {
    expect(canonicalize(fromBits(bits))).toBe(text);
  });

  it('writes the sample of RFC 8785 §3.2.2', () => {
    const value = {
      numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalize(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('orders members by UTF-16 code units (RFC 8785 §3.2.3)', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalize(value)))).toEqual([
      'One', // an integer key comes first in any JavaScript object, so the text itself is compared below
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
    expect(canonicalize(value)).toMatch(/^\{"\\r":.*"1":.*"\u0080":.*"\u00f6":.*"\u20ac":.*"\ud83d\ude00":.*"\ufb33":/);
  });

  it('C3: survives JSON.parse, whatever the order the members came in', () => {
    fc.assert(
      fc.property(json(), (value) => {
        const text = canonicalize(value);
        expect(canonicalize(JSON.parse(text))).toBe(text);
        expect(equalJson(JSON.parse(text), value)).toBe(true);
      }),
    );
  });

  it.each([
    ['undefined', { a: undefined }, '/a'],
    ['a function', { a: [() => 1] }, '/a/0'],
    ['a symbol', { a: Symbol('s') }, '/a'],
    ['a bigint', { a: 1n }, '/a'],
    ['NaN', [Number.NaN], '/0'],
    ['Infinity', [Number.POSITIVE_INFINITY], '/0'],
    ['a lone high surrogate', { 'a/b': 'x\ud800' }, '/a~1b'],
    ['a lone low surrogate', 'x\udc00y', ''],
    ['NUL', { 'a~b': '\u0000' }, '/a~0b'],
    ['a lone surrogate in a name', { '\ud800': 1 }, ''],
    ['NUL in a name', { 'a\u0000': 1 }, ''],
    ['__proto__ as a name', JSON.parse('{"a":{"__proto__":{"b":1}}}'), '/a/__proto__'],
    ['a symbol as a name', { [Symbol('s')]: 1 }, ''],
    ['an accessor', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true }), '/a'],
    ['a hidden member', Object.defineProperty({}, 'a', { value: 1, enumerable: false }), '/a'],
    ['an array with a hole', Object.assign(new Array(3), { 0: 1, 2: 3 }), ''],
    ['an array with a member', Object.assign([1], { a: 2 }), ''],
    ['an array of another class', new (class List extends Array {})(), ''],
    ['a date', new Date(0), ''],
    ['a map', new Map(), ''],
    ['an object of a class', new (class Thing {})(), ''],
    ['inherited members', Object.create({ a: 1 }), ''],
  ])('C1, C2: refuses %s', (_what, value, path) => {
    expect(whyNot(value).path).toBe(path);
  });

  it('accepts an object without a prototype', () => {
    expect(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });

  it('accepts MAX_DEPTH containers and refuses one more', () => {
    expect(canonicalize(nested(MAX_DEPTH))).toBe(`${'['.repeat(MAX_DEPTH)}1${']'.repeat(MAX_DEPTH)}`);
    expect(whyNot(nested(MAX_DEPTH + 1)).path).toBe('/0'.repeat(MAX_DEPTH));
  });

  it('refuses what contains itself', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(whyNot(loop).reason).toMatch(/deeper than 64/);
  });

  it('says where it went wrong, after all that is well', () => {
    const fine = { a: [1], b: true, c: 'x', d: 2, e: Object.assign(Object.create(null), { f: null }) };
    const named = expect.objectContaining({ name: 'NotCanonicalError', path: '/z' });
    expect(() => canonicalize({ ...fine, z: undefined })).toThrow(named);
    expect(
      whyNot({
        get a() {
          return 1;
        },
      }).reason,
    ).toBe('only plain members are allowed');
    expect(whyNot(new (class extends Array {})()).reason).toBe('only plain arrays are allowed');
    expect(whyNot({ a: new Date(0) }).reason).toBe('only plain objects are allowed');
    const deep = Array.from({ length: MAX_DEPTH + 1 }).reduce<unknown>((inner) => ({ a: inner }), 1);
    expect([whyNot(deep).reason, whyNot(deep).path]).toEqual(['nesting deeper than 64', '/a'.repeat(MAX_DEPTH)]);
  });

  it('says where it went wrong', () => {
    expect(() => canonicalize({ a: Number.NaN })).toThrow('NaN is not a JSON number at /a');
    expect(() => canonicalize(undefined)).toThrow('undefined is not JSON at the root');
  });
});

describe('digest', () => {
  it('is over the UTF-8 bytes of the canonical text', () => {
    expect(digest({})).toBe('sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
    expect(digest({ b: '€', a: 1 })).toBe(digestBytes('{"a":1,"b":"€"}'));
    expect(digestBytes(new TextEncoder().encode('abc'))).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('tells values apart exactly when they differ', () => {
    fc.assert(
      fc.property(json(), json(), (a, b) => {
        expect(digest(a) === digest(b)).toBe(equalJson(a, b));
      }),
    );
  });
});

describe('differingPaths', () => {
  it.each([
    ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['a scalar', { a: 1, b: 2 }, { a: 1, b: 3 }, ['/b']],
    ['members one side lacks, by code unit', { b: 1, c: 1 }, { a: 1, c: 1 }, ['/a', '/b']],
    ['items', { l: [1, 2, 3] }, { l: [1, 9] }, ['/l/1', '/l/2']],
    ['items, by index', { l: new Array(12).fill(0) }, { l: [] }, [...new Array(12).keys()].map((i) => `/l/${i}`)],
    ['kinds', { a: [] }, { a: {} }, ['/a']],
    ['null and an object', { a: null }, { a: {} }, ['/a']],
    ['the root', 1, '1', ['']],
    ['escaped names', { 'a/b': 1, 'c~d': 1 }, {}, ['/a~1b', '/c~0d']],
    ['names of the prototype', {}, JSON.parse('{"constructor":1}'), ['/constructor']],
  ])('names %s', (_what, a, b, paths) => {
    expect(differingPaths(a, b)).toEqual(paths);
  });

  it('stops at its limit', () => {
    const a = Object.fromEntries([...new Array(500).keys()].map((i) => [`k${i}`, [1, 2, 3]]));
    const b = Object.fromEntries([...new Array(500).keys()].map((i) => [`k${i}`, [3, 2, 1]]));
    expect(differingPaths(a, b)).toHaveLength(100);
    expect(differingPaths(a, b, 3)).toEqual(['/k0/0', '/k0/2', '/k1/0']);
    expect(differingPaths(new Array(9).fill(1), [], 2)).toEqual(['/0', '/1']);
  });

  it('is empty exactly when the values are equal', () => {
    fc.assert(
      fc.property(json(), json(), (a, b) => {
        expect(differingPaths(a, b).length === 0).toBe(equalJson(a, b));
        expect(differingPaths(a, a)).toEqual([]);
      }),
    );
  });
});

describe('equalJson', () => {
  it.each([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [[], {}, false],
    [null, {}, false],
    [{}, null, false],
    [0, -0, true],
    ['1', 1, false],
  ])('%j and %j: %s', (a, b, equal) => {
    expect(equalJson(a, b)).toBe(equal);
  });
});
