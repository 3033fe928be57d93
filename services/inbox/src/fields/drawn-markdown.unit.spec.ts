import { describe, expect, it } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { DrawnMarkdown } from './DrawnMarkdown.js';

const drawn = (text: string) => renderToStaticMarkup(createElement(DrawnMarkdown, { text }));

describe('untrusted markdown', () => {
  it('is drawn, its headings below those of the page', () => {
    const html = drawn('# Title\n\nSome **bold** text\n\n- [ ] open\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |');
    expect(html).toContain('<h4>Title</h4>');
    expect(html).toContain('<strong>bold</strong>');
    expect(html).toContain('<td class="aligned-center">1</td>');
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'text <b onclick="alert(1)">bold</b>',
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>body { display: none }</style>',
    '<svg onload=alert(1)>',
    '<!-- --><form action=https://evil.example><input></form>',
  ])('keeps %s as text', (text) => {
    const html = drawn(text);
    expect(html).not.toMatch(/<(script|img|b|iframe|a|style|svg|form|input)[ >]/);
    expect(html).toContain('&lt;');
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JAVASCRIPT:alert(1))',
    '[x](java&#x0A;script:alert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD4=)',
    '[x](vbscript:msgbox)',
    '[x](/api/v1/auth/logout)',
    '[x](//evil.example)',
    '[x]: javascript:alert(1)\n\n[x]',
    '<javascript:alert(1)>',
    'a[^1]\n\n[^1]: note',
  ])('makes no link of %s', (text) => {
    expect(drawn(text)).not.toContain('href');
  });

  it('opens links elsewhere, without telling where from', () => {
    const html = drawn('[x](https://example.org/a) and mail@example.org');
    expect(html.match(/<a [^>]*>/g)).toEqual([
      '<a href="https://example.org/a" target="_blank" rel="noopener noreferrer nofollow" title="https://example.org/a">',
      '<a href="mailto:mail@example.org" target="_blank" rel="noopener noreferrer nofollow" title="mailto:mail@example.org">',
    ]);
  });

  it.each(['![x](http://example.org/a.png)', '![x](javascript:alert(1))', '![x](data:image/svg+xml;base64,AAAA)', '![x](/a.png)'])(
    'shows no picture for %s',
    (text) => {
      expect(drawn(text)).not.toMatch(/<img|<button/);
    },
  );
  it('waits to be asked before it loads a picture from elsewhere, and shows one that was sent along', () => {
    expect(drawn('![chart](https://example.org/a.png)')).toContain('Show the picture “chart” from example.org');
    expect(drawn('![chart](https://example.org/a.png)')).not.toContain('<img');
    expect(drawn('![dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)')).toContain('<img src="data:image/gif;base64,');
  });

  it('writes no style into the page', () => {
    expect(drawn('| a |\n|:-:|\n| 1 |\n\n~~x~~ `code`')).not.toContain('style=');
  });
});
