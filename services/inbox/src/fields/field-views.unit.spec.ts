import { FIELD_TYPES, type FieldType, type TemplateField } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { typed } from '../review/difference/edits.js';
import { Field } from './Field.js';

const field = (type: FieldType, more: Partial<TemplateField> = {}): TemplateField => ({
  name: 'it',
  type,
  label: 'The label',
  editable: true,
  required: false,
  ...more,
});
const OPTIONS = { options: ['EUR', 'USD'] };
const VALUES: Record<FieldType, unknown> = {
  text: 'two\nlines',
  markdown: '**bold**',
  json: { a: [1, 'x'] },
  image: 'https://example.org/a.png',
  video: 'https://example.org/a.mp4',
  number: 0.1,
  boolean: false,
  select: 'EUR',
  buttons: 'USD',
  date: '2026-11-30',
  url: 'https://example.org/a',
};
const shown = (type: FieldType, value: unknown = VALUES[type]) =>
  renderToStaticMarkup(createElement(Field, { field: field(type, OPTIONS), sent: value, edit: undefined }));
const edited = (type: FieldType, value: unknown = VALUES[type]) =>
  renderToStaticMarkup(createElement(Field, { field: field(type, OPTIONS), sent: value, edit: undefined, onEdit: () => {} }));

describe('a field', () => {
  it.each(FIELD_TYPES)('of type %s is shown under its label, without a control that changes it', (type) => {
    const html = shown(type);
    expect(html).toContain('The label');
    expect(html).not.toMatch(/<textarea|<select|type="(text|date)"/);
  });
  it.each(FIELD_TYPES.filter((type) => type !== 'markdown'))('of type %s has an editor that carries its label', (type) => {
    const html = edited(type);
    const id = /<h3 id="[^"]*-label" class="field-label"><label for="([^"]*)"/.exec(html)?.[1];
    if (id === undefined) expect(html).toMatch(/role="radiogroup" aria-labelledby="[^"]+-label"/);
    else expect(html).toContain(` id="${id}"`);
  });
  it.each(FIELD_TYPES)('of type %s says that nothing was sent', (type) => {
    const html = renderToStaticMarkup(createElement(Field, { field: field(type), sent: undefined, edit: undefined }));
    expect(html).toContain('Not sent');
  });
  it('shows digits as they are', () => {
    expect(shown('number', 1234567.5)).toContain('>1234567.5<');
    expect(shown('number', 1e21)).toContain('>1e+21<');
  });
  it('writes a day out, since a picker may turn day and month around', () => {
    expect(edited('date', '2026-12-04')).toMatch(/Fri,? 4 December 2026/);
  });
  it('of one line wraps in its editor', () => {
    for (const type of ['url', 'number', 'buttons', 'image'] as const) {
      const html = renderToStaticMarkup(
        createElement(Field, { field: field(type), sent: VALUES[type], edit: undefined, onEdit: () => {} }),
      );
      expect(html).toContain('<textarea');
      expect(html).not.toContain('type="text"');
    }
  });
  it('names what cannot be seen in its label and its options', () => {
    const html = renderToStaticMarkup(
      createElement(Field, {
        field: field('buttons', { label: 'Pay\u200b', options: ['yes\u202e'] }),
        sent: 'yes\u202e',
        edit: undefined,
        onEdit: () => {},
      }),
    );
    expect([...html.matchAll(/U\+[0-9A-F]{4}/g)].map(([name]) => name)).toEqual(['U+200B', 'U+202E']);
  });
  it('shows an option whole that its control may cut', () => {
    const long = 'two and more '.repeat(5);
    const html = renderToStaticMarkup(
      createElement(Field, { field: field('select', { options: ['one', long] }), sent: long, edit: undefined, onEdit: () => {} }),
    );
    expect(html).toContain(`<p class="field-note">${long}</p>`);
  });
  it('writes no agent’s text as markup', () => {
    const evil = '<img src=x onerror=alert(1)>';
    for (const type of FIELD_TYPES) expect(shown(type, evil)).not.toContain('<img src=x');
    expect(shown('json', { [evil]: evil })).not.toContain('<img');
  });
  it('makes no link of an address that runs something', () => {
    expect(shown('url', 'javascript:alert(1)')).not.toContain('href');
    expect(shown('image', 'javascript:alert(1)')).not.toMatch(/src=|href=/);
  });
  it('says where an address leads that reads otherwise', () => {
    expect(shown('url', 'https://раypal.com/')).toContain('leads to xn--');
    expect(shown('url', 'https://paypal.com/')).not.toContain('leads to');
  });
  it('names what cannot be seen', () => {
    expect(shown('text', 'pay\u202eevil')).toContain('U+202E');
    expect(edited('text', 'pay\u202eevil')).toContain('invisible characters: U+202E');
  });
  it('says what is wrong with an edit, and that it is one', () => {
    const amount = field('number');
    const html = renderToStaticMarkup(createElement(Field, { field: amount, sent: 1, edit: typed(amount, 'x'), onEdit: () => {} }));
    expect(html).toContain('aria-invalid="true"');
    expect(html).toMatch(/aria-describedby="[^"]+-problem"/);
    expect(html).toContain('Edited');
  });
});
