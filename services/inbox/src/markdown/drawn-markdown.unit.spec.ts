import { describe, expect, it } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { DrawnMarkdown } from './DrawnMarkdown.js';

const drawn = (text: string) => renderToStaticMarkup(createElement(DrawnMarkdown, { text, below: 3 }));

const wordsIn = (html: string) => html.replace(/<[^>]*>/g, '');

describe('untrusted markdown', () => {
  it('is drawn, its headings below those of the page', () => {
    const html = drawn('# Title\n\nSome **bold** text\n\n- [ ] open\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |');
    expect(html).toContain('<h4>Title</h4>');
    expect(html).toContain('<strong>bold</strong>');
    expect(html).toContain('<td class="aligned-center">1</td>');
  });

  it('keeps its headings in order, whichever levels the text leaves out', () => {
    const levels = (text: string) => [...drawn(text).matchAll(/<h(\d)>/g)].map(([, level]) => Number(level));
    expect(levels('### a\n\n# b\n\n#### c\n\n## d\n\n### e\n\n###### f\n\n# g')).toEqual([4, 4, 5, 5, 6, 6, 4]);
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
      '<a href="https://example.org/a" target="_blank" rel="noopener noreferrer nofollow">',
      '<a href="mailto:mail@example.org" target="_blank" rel="noopener noreferrer nofollow">',
    ]);
  });

  it.each(['![x](http://example.org/a.png)', '![x](javascript:alert(1))', '![x](data:image/svg+xml;base64,AAAA)', '![x](/a.png)'])(
    'shows no picture for %s',
    (text) => {
      expect(drawn(text)).not.toMatch(/<img|<button/);
    },
  );
  it('waits to be asked before it loads a picture from elsewhere, and shows one that was sent along', () => {
    expect(drawn('![chart](https://example.org/a.png)')).toContain('Show the picture from example.org');
    expect(drawn('![chart](https://example.org/a.png)')).not.toContain('<img');
    expect(drawn('![dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)')).toContain('<img src="data:image/gif;base64,');
  });

  it('writes no style into the page', () => {
    expect(drawn('| a |\n|:-:|\n| 1 |\n\n~~x~~ `code`')).not.toContain('style=');
  });

  it.each([
    ['[Pay](https://evil.example/x)', 'Pay (https://evil.example/x)'],
    ['[https://good.example](https://evil.example/x)', 'https://good.example (https://evil.example/x)'],
    ['[Pay](javascript:alert(1))', 'Pay (javascript:alert(1)) no link'],
    ['[Pay](/api/v1/auth/logout)', 'Pay (/api/v1/auth/logout) no link'],
    ['[Pay](https://evil.example "to good")', 'Pay (https://evil.example) “to good”'],
    ['[](https://evil.example)', ' (https://evil.example)'],
    ['[Pay][to]\n\n[to]: https://evil.example', 'Pay (https://evil.example)[to]'],
    ['[x](https://good.example@evil.example/)', 'leads to evil.example'],
    ['![chart](https://evil.example/a.png "x")', '“chart” (https://evil.example/a.png) “x”'],
    ['![chart](/a.png)', '“chart” (/a.png)'],
  ])('says where %s leads', (source, words) => {
    expect(wordsIn(drawn(source))).toContain(words);
  });
  it('does not say twice where an address leads', () => {
    expect(wordsIn(drawn('<https://example.org/a> mail@example.org'))).toBe('https://example.org/a mail@example.org');
  });

  it.each([
    ['a comment', 'a <!-- zq17 --> b'],
    ['a comment of several lines', '<!--\n\nzq17 -->'],
    ['an attribute', 'a <b class="zq17">x</b>'],
    ['a declaration', '<!DOCTYPE zq17>'],
    ['an instruction', 'a <?zq17?>'],
    ['a definition nobody refers to', '[//]: # (zq17)'],
    ['a definition that comes too late', '[a]: https://one.example\n[a]: https://zq17.example'],
    ['the label of a reference', '[x][zq17]\n\n[zq17]: https://one.example'],
    ['the label of a picture', '![x][zq17]\n\n[zq17]: https://one.example'],
    ['words after a fence', '```js zq17\ncode\n```'],
    ['a cell beyond the head', '| a |\n|---|\n| 1 | zq17 |'],
    ['a footnote nobody refers to', '[^a]: zq17'],
    ['the label of a footnote', 'x[^zq17]\n\n[^zq17]: words'],
    ['a picture’s words', '![zq17](https://one.example/a.png)'],
  ])('shows %s', (_, source) => {
    expect(wordsIn(drawn(source))).toContain('zq17');
    expect(drawn(source)).not.toContain('unshown');
  });
  it('counts as the text does', () => {
    expect(drawn('1. a\n7. b')).toContain('<li value="7">b</li>');
  });
  it('breaks lines where the text does', () => {
    expect(drawn('one\ntwo')).toContain('one<br/>');
  });
  it.each(['\u202e', '&#x202e;', '&rlm;', '&zwnj;', '&#8203;', '`\u200b`', '[x](https://e.example/\u200b)', '**a\u2066**'])(
    'names the hidden character of %j',
    (source) => {
      expect(wordsIn(drawn(`pay ${source} pal`))).toMatch(/U\+20/);
    },
  );

  it.each([
    ['\ufeffHello', 1],
    ['Hello\n\n007. Bond', 3],
  ])('says so and shows the source when %j is not drawn whole', (source, line) => {
    const html = drawn(source);
    expect(html).toContain(`first on line ${line}.`);
    expect(wordsIn(html.slice(html.indexOf('<pre'), html.indexOf('</pre>')))).toBe(source.replace('\ufeff', 'U+FEFF'));
  });
  it.each([
    '# H\n\n**b** *i* ~~s~~ `c` &amp; &copy; a\\*b\n\n- [x] done\n- [ ] not\n\n> q\n> > r\n\n---\n\n1. a\n2. b\n\n| a | b |\n|--:|---|\n| 1 | 2 |',
    'a\r\nb\\\nc  \nd',
    '```html\n<b>&amp;</b>\n```\n\n    indented &lt;',
    'https://пример.рф www.b.example <mailto:a@b.example> ünï 日本語 👩‍👧',
    '![dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)',
  ])('has nothing to say of %j', (source) => {
    expect(drawn(source)).not.toContain('unshown');
  });
});
