import { describe, expect, it } from '@jest/globals';
import { hostToName, inlineVideo, safeLink, safePicture } from './addresses.js';

describe('addresses of an agent’s', () => {
  it.each(['https://example.org/a?b#c', 'http://example.org/', 'mailto:ann@example.org'])('%s may be followed', (address) => {
    expect(safeLink(address)).toBe(address);
  });
  it.each([
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://example.org/1',
    '/api/v1/auth/logout',
    '//evil.example',
    '#main',
    '',
    undefined,
    7,
  ])('%j may not', (address) => {
    expect(safeLink(address)).toBeNull();
  });
  it.each([
    ['https://example.org/a.png', true],
    ['data:image/png;base64,AAAA', true],
    ['http://example.org/a.png', false],
    ['data:image/svg+xml;base64,AAAA', false],
    ['data:text/html;base64,AAAA', false],
    ['javascript:alert(1)', false],
    ['/uploads/a.png', false],
  ])('a picture at %s is shown: %s', (address, shown) => {
    expect(safePicture(address) !== null).toBe(shown);
  });
  it('gives the bytes of a video sent along, and of nothing else', async () => {
    const blob = inlineVideo('data:video/mp4;base64,AAEC');
    expect(blob?.type).toBe('video/mp4');
    expect([...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]).toEqual([0, 1, 2]);
    expect(inlineVideo('data:text/html;base64,AAEC')).toBeNull();
    expect(inlineVideo('data:video/mp4;base64,A')).toBeNull();
    expect(inlineVideo('https://example.org/a.mp4')).toBeNull();
  });
  it.each([
    ['https://paypal.com/a', null],
    ['https://PayPal.com', null],
    ['https://paypal.com:8443/a', null],
    ['https://paypal.com@evil.example/', 'evil.example'],
    ['https://paypal.com\\@evil.example/', 'paypal.com'],
    ['https:evil.example', 'evil.example'],
    ['https://раypal.com/', 'xn--ypal-43d9g.com'],
    ['https://paypal.com%2eevil.example/', 'paypal.com.evil.example'],
    ['mailto:a@b.example', null],
    ['not an address', null],
  ])('of %s the host that is named beside it is %j', (address, host) => {
    expect(hostToName(address)).toBe(host);
  });
});
