import { describe, expect, it } from '@jest/globals';
import jcs from 'canonicalize';
import fc from 'fast-check';
import { canonicalize, NotCanonicalError } from './index.js';

describe('canonicalize against the published package', () => {
  it('gives the same text for every value it accepts', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', depthSize: 'medium' }), (value) => {
        let text: string;
        try {
          text = canonicalize(value);
        } catch (error) {
          // NUL and __proto__, which the package lets through.
          expect(error).toBeInstanceOf(NotCanonicalError);
          expect(JSON.stringify(value)).toMatch(/\\u0000|__proto__/);
          return;
        }
        expect(text).toBe(jcs(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([-0, 1e21, 1e-7, 5e-324, 0.1, 333333333.3333333, 9007199254740991, '\u2028', '\u007f', '\b\f\n\r\t"\\/', { 10: 1, 9: 2, a: 3 }])(
    '%p',
    (value) => {
      expect(canonicalize(value)).toBe(jcs(value));
    },
  );
});
