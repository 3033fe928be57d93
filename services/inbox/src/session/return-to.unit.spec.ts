import { describe, expect, it } from '@jest/globals';
import { loginAddress, safeReturnTo } from './return-to.js';

const ORIGIN = 'https://inbox.example';

describe('where to come back to', () => {
  it.each([
    ['/reviews/rev_1', '/reviews/rev_1'],
    ['/?status=decided', '/?status=decided'],
    ['/reviews/rev_1#x', '/reviews/rev_1'],
    [null, '/'],
    ['', '/'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/login?return_to=/login', '/'],
  ])('%j leads to %j', (text, path) => {
    expect(safeReturnTo(text, ORIGIN)).toBe(path);
  });
  it('goes round by signing in', () => {
    expect(loginAddress('/')).toBe('/login');
    const { pathname, searchParams } = new URL(loginAddress('/reviews/rev_1?a=1'), ORIGIN);
    expect([pathname, searchParams.get('return_to')]).toEqual(['/login', '/reviews/rev_1?a=1']);
  });
});
