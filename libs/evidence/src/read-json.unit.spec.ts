import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize, readJson } from './index.js';

describe('readJson', () => {
  it.each([
    ['{"e1":1,"\\\\":1}', '{"e1":1,"\\"":1}', { e1: 1, '"': 1 }],
    ['{"e2":1,"\\\\u00":1}', '{"e2":1,"\\u00e9tat":1}', { e2: 1, état: 1 }],
    ['[{"e3":1,"\\\\\\\\":1}]', '[{"e3":1,"\\\\n"\n : 1}]', [{ e3: 1, '\\n': 1 }]],
  ])('is not misled by the keys of an earlier text: %s, then %s', (earlier, text, value) => {
    JSON.parse(earlier);
    JSON.parse(earlier);
    expect(readJson(text)).toEqual(value);
  });

  it.each(['{"a":"\\"b\\":\\\\"}', '[1.5e3,-0,true,null,"é\\n"]', '{"a\\nb":{"c":[{"d":1}]}}', '""', '7'])(
    'reads %s as what it says',
    (text) => {
      expect(canonicalize(readJson(text))).toBe(canonicalize(JSON.parse(text)));
    },
  );

  it.each(['', '{', '{"a":1,}', '{"a\\n"', '"\\', '{"a\\n":1}}'])('refuses %j', (text) => {
    expect(() => readJson(text)).toThrow(SyntaxError);
  });

  it('gives every value back from its canonical text, whatever was read before (C3)', () => {
    const key = fc.string({ unit: fc.constantFrom('\\', '"', 'n', 'u', '0', '\n', 'é'), maxLength: 3 });
    const value = fc.dictionary(key, fc.oneof(fc.integer(), key, fc.dictionary(key, fc.integer(), { maxKeys: 3 })), { maxKeys: 4 });
    fc.assert(
      fc.property(value, (v) => {
        expect(readJson(canonicalize(v))).toEqual(v);
      }),
      { numRuns: 2_000 },
    );
  });
});
