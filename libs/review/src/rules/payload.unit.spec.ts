import { FIELD_TYPES, type Field, type FieldType } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { editOf } from './edits.js';
import { checkPayload } from './payload.js';

const field = (type: FieldType, more: Partial<Field> = {}): Field => ({
  name: 'f',
  type,
  label: 'F',
  editable: false,
  required: false,
  ...more,
});
const options = ['red', 'green'];

const FITS: Record<FieldType, unknown[]> = {
  text: ['', 'a'],
  markdown: ['# a'],
  json: [1, 'a', [], { a: null }, false],
  image: [
    'https://pics.example/a.png',
    'http://pics.example/a',
    'data:image/png;base64,iVBORw0KGgo=',
    'DATA:image/PNG;base64,iVBORw0KGgo=',
  ],
  video: ['https://pics.example/a.mp4', 'data:video/mp4;base64,AAAA'],
  number: [0, -1.5],
  boolean: [true, false],
  select: ['red'],
  buttons: ['green'],
  date: ['2026-11-30', '2024-02-29', '2026-11-30T09:00:00Z', '2026-11-30T23:59:60.123+02:00', '2026-11-30t09:00:00z', '0099-01-01'],
  url: ['https://a.example/x?y#z', 'http://a.example'],
};

const DOES_NOT_FIT: Record<FieldType, unknown[]> = {
  text: [1, true, [], {}],
  markdown: [1],
  json: [],
  image: [
    1,
    'a.png',
    'ftp://a.example/x',
    'data:image/svg+xml;base64,AAAA',
    'data:video/mp4;base64,AAAA',
    'data:image/png,AAAA',
    'javascript:alert(1)',
  ],
  video: ['data:image/png;base64,AAAA', 'x'],
  number: ['1', true],
  boolean: ['true', 0],
  select: ['blue', 1, ['red']],
  buttons: ['blue', 1],
  date: ['2026-02-30', '2023-02-29', '30.11.2026', '2026-11-30T25:00:00Z', '2026-11-30T09:00:00', '2026-13-01', '2026-00-10', '', 20261130],
  url: ['a.example', 'javascript:alert(1)', 'file:///etc', 1, ''],
};

const typed = (type: FieldType) => field(type, type === 'select' || type === 'buttons' ? { options } : {});

describe('a payload against its fields (decision 8)', () => {
  it.each(FIELD_TYPES.flatMap((type) => FITS[type].map((value) => [type, value] as const)))('%s takes %j', (type, f) => {
    expect(checkPayload([typed(type)], { f }, 'payload')).toBeNull();
  });

  it.each(FIELD_TYPES.flatMap((type) => DOES_NOT_FIT[type].map((value) => [type, value] as const)))('%s refuses %j', (type, f) => {
    expect(checkPayload([typed(type)], { f }, 'payload')).toMatchObject({ code: 'payload_invalid', param: 'payload.f' });
  });

  it('takes any text for buttons without options, and nothing for a select without', () => {
    expect(checkPayload([field('buttons')], { f: 'any' }, 'payload')).toBeNull();
    expect(checkPayload([field('buttons')], { f: 1 }, 'payload')).not.toBeNull();
    expect(checkPayload([field('select')], { f: 'any' }, 'payload')).not.toBeNull();
  });

  const BLANKS = ['', ' ', '\t\r\n', '\u00a0\u3000\u2028', '\u200b', '\ufeff \u2060', '\u200d\ufe0f\u00ad'];
  it.each(BLANKS.flatMap((f) => [['text', f] as const, ['markdown', f] as const]))(
    '%s that is required is missing when it says %j',
    (type, f) => {
      expect(checkPayload([field(type, { required: true })], { f }, 'payload')).toMatchObject({
        code: 'payload_invalid',
        param: 'payload.f',
      });
      expect(checkPayload([field(type)], { f }, 'payload')).toBeNull();
    },
  );

  it.each(['0', '.', ' x ', '\u200b-', '👩‍🚀', '\u0301'])('text that is required may be %j', (f) => {
    expect(checkPayload([field('text', { required: true })], { f }, 'payload')).toBeNull();
  });

  it('may leave out, or have null for, what is not required', () => {
    for (const type of FIELD_TYPES) {
      for (const payload of [{}, { f: null }]) {
        expect(checkPayload([typed(type)], payload, 'payload')).toBeNull();
        expect(checkPayload([{ ...typed(type), required: true }], payload, 'payload')).toMatchObject({
          code: 'payload_invalid',
          message: 'payload.f is required.',
        });
      }
    }
  });

  it('finds a required field in the payload itself, not in what it inherits', () => {
    expect(checkPayload([field('json', { name: 'constructor', required: true })], {}, 'payload')).not.toBeNull();
  });

  it('says all that is wrong, the first of it in param', () => {
    const fields = [field('text', { name: 'a' }), field('number', { name: 'b' }), field('text', { name: 'c' })];
    expect(checkPayload(fields, { a: 1, b: 2, c: 3, d: 4 }, 'edited_payload')).toMatchObject({
      param: 'edited_payload.a',
      details: [
        { path: 'edited_payload.a', message: 'must be a string', code: 'custom' },
        { path: 'edited_payload.c', message: 'must be a string', code: 'custom' },
      ],
    });
  });

  it.each([
    ['a lone surrogate', { x: '\ud800' }],
    ['NUL', { x: { y: ['\u0000'] } }],
    ['__proto__', JSON.parse('{"x":{"__proto__":1}}')],
    ['one level too many under its member', { x: JSON.parse('['.repeat(63) + ']'.repeat(63)) }],
  ])('refuses %s anywhere', (_what, payload) => {
    expect(checkPayload([], payload, 'payload')).toMatchObject({ code: 'payload_invalid', param: 'payload' });
  });

  it('takes as many levels as an event can hold', () => {
    expect(checkPayload([], { x: JSON.parse('['.repeat(62) + ']'.repeat(62)) }, 'payload')).toBeNull();
  });

  it('does not hide a fault of ours', () => {
    const trap = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('broken');
        },
      },
    );
    expect(() => checkPayload([], trap, 'payload')).toThrow('broken');
  });
});

describe('an edit', () => {
  it('is none without changes', () => {
    const payload = { a: { x: 1, y: [2] } };
    for (const edited of [undefined, {}, { a: { y: [2], x: 1 } }]) {
      expect(editOf(payload, edited)).toEqual({ changed_keys: [], edited_payload: null, merged: payload });
    }
  });

  it('changes whole keys, and keeps the rest', () => {
    expect(editOf({ a: { x: 1 }, b: 2 }, { c: null, a: { y: 1 } })).toEqual({
      changed_keys: ['a', 'c'],
      edited_payload: { c: null, a: { y: 1 } },
      merged: { a: { y: 1 }, b: 2, c: null },
    });
  });
});
