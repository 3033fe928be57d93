import { describe, expect, it } from '@jest/globals';
import { isCrossSite } from './cross-site.js';

const ALLOWED = 'https://inbox.example.com';
const judge = (headers: Record<string, string>, { method = 'POST', onCookie = true, allowedOrigin = ALLOWED } = {}) =>
  isCrossSite({ method, headers: { host: 'gate.example.com', ...headers } }, { allowedOrigin, onCookie });

describe('isCrossSite', () => {
  it.each([
    ['the inbox itself', { 'sec-fetch-site': 'same-origin', origin: 'https://gate.example.com' }],
    ['an address that was typed', { 'sec-fetch-site': 'none' }],
    ['an older browser', { origin: 'https://gate.example.com' }],
    ['an older browser at another port', { host: 'gate.example.com:8443', origin: 'https://gate.example.com:8443' }],
    ['the allowed origin', { 'sec-fetch-site': 'cross-site', origin: ALLOWED }],
  ])('lets %s through', (_, headers) => {
    expect(judge(headers as Record<string, string>)).toBe(false);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sibling domain', { 'sec-fetch-site': 'same-site', origin: 'https://blog.example.com' }],
    ['another site of an older browser', { origin: 'https://evil.example' }],
    ['another port', { origin: 'https://gate.example.com:8443' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['no address', { origin: '' }],
    ['something unheard of', { 'sec-fetch-site': 'same-planet' }],
    ['nobody says where from', {}],
  ])('stops %s', (_, headers) => {
    expect(judge(headers as Record<string, string>)).toBe(true);
  });

  it('asks only who changes something, and a cookie of one who says nothing', () => {
    expect(judge({ 'sec-fetch-site': 'cross-site' }, { method: 'GET' })).toBe(false);
    expect(judge({}, { onCookie: false })).toBe(false);
    expect(judge({ 'sec-fetch-site': 'cross-site' }, { onCookie: false })).toBe(true);
    expect(judge({ 'sec-fetch-site': 'cross-site', origin: ALLOWED }, { allowedOrigin: 'https://another.example.com' })).toBe(true);
  });
});
