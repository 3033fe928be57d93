import type { FieldType, TemplateField } from '@countersign/contracts';
import { FIELD_TYPES } from '@countersign/contracts';
import { JsonRefused, parseJson } from '@countersign/http';
import { checkPayload } from '@countersign/review';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { readTyped } from './typed-values.js';

const field = (type: FieldType, more: Partial<TemplateField> = {}): TemplateField => ({
  name: 'it',
  type,
  label: 'It',
  editable: true,
  required: false,
  ...more,
});
const read = (type: FieldType, text: string) => readTyped(field(type), text);

describe('typed text', () => {
  it.each<[FieldType, string, unknown]>([
    ['text', ' as it is\n', ' as it is\n'],
    ['markdown', '', ''],
    ['number', ' 12.50 ', 12.5],
    ['number', '-0', 0],
    ['number', '1e3', 1000],
    ['number', '.5', 0.5],
    ['number', '9007199254740991', 9007199254740991],
    ['json', '{"a":[1,2.5]}', { a: [1, 2.5] }],
    ['json', '"text"', 'text'],
    ['json', '9007199254740992', 9007199254740992],
    ['json', '{"a": "9007199254740993", "\\"1e400": 1.0}', { a: '9007199254740993', '"1e400': 1 }],
    ['date', '2026-11-30', '2026-11-30'],
    ['date', '2028-02-29T23:59:60Z', '2028-02-29T23:59:60Z'],
    ['url', 'https://example.org/a', 'https://example.org/a'],
    ['image', 'data:image/png;base64,iVBORw0=', 'data:image/png;base64,iVBORw0='],
    ['number', '', null],
    ['date', '  ', null],
  ])('of a %s field, %j, is %j', (type, text, value) => {
    expect(read(type, text)).toEqual({ value });
  });

  it.each<[FieldType, string]>([
    ['number', 'twelve'],
    ['number', '1,5'],
    ['number', '0x10'],
    ['number', 'Infinity'],
    ['number', '1e999'],
    ['number', '9007199254740993'],
    ['number', '0.12345678901234567891'],
    ['json', '{"a":'],
    ['json', '{"a": 9007199254740993}'],
    ['json', '{"a":1,"a":2}'],
    ['json', '[{"a":1,"\\u0061":1}]'],
    ['date', '2026-02-30'],
    ['date', '30.11.2026'],
    ['date', '2026-11-30T09:00'],
    ['url', 'javascript:alert(1)'],
    ['url', 'example.org'],
    ['image', 'data:image/svg+xml;base64,AAAA'],
    ['video', 'data:image/png;base64,AAAA'],
  ])('of a %s field, %j, cannot be sent', (type, text) => {
    expect(read(type, text).problem).toEqual(expect.any(String));
  });

  it('has to be there in a required field', () => {
    expect(readTyped(field('number', { required: true }), '')).toEqual({ value: null, problem: 'This field is required.' });
    expect(readTyped(field('text', { required: true }), ' ')).toEqual({ value: ' ', problem: 'This field is required.' });
    expect(readTyped(field('text'), '')).toEqual({ value: '' });
  });

  it('is JSON whose numbers the server would read as they stand, also where the browser tells no source of a number', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][+-]?\d{1,3})?$/);
    const member = fc.oneof(
      digits,
      fc.constantFrom('9007199254740993', '1e400', '-1e-400', '1.0', '1e21', '5e-324', '-0', '0.1'),
      fc.string().map((text) => JSON.stringify(text)),
      digits.map((text) => JSON.stringify(`\\"${text}`)),
    );
    const whole = JSON.parse;
    const sourceless = jest.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
      return whole(text, reviver && ((key, value) => reviver.call({}, key, value)));
    });
    let refused = 0;
    fc.assert(
      fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (members) => {
        const text = `{"9007199254740993": [${members.join(', ')}]}`;
        const { problem } = read('json', text);
        if (problem === undefined) expect(parseJson(text)).toEqual(whole(text));
        else {
          refused++;
          expect(problem).toContain('put it in quotes');
          expect(() => parseJson(text)).toThrow(JsonRefused);
        }
      }),
      { numRuns: 2000 },
    );
    sourceless.mockRestore();
    expect(refused).toBeGreaterThan(100);
  });

  it('is taken by the server whenever it is taken here', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.double({ noNaN: true }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.webUrl(),
    );
    const typesOfText = FIELD_TYPES.filter((type) => !['boolean', 'select', 'buttons'].includes(type));
    fc.assert(
      fc.property(fc.constantFrom(...typesOfText), texts, (type, text) => {
        const { value, problem } = read(type, text);
        if (problem !== undefined || !String(text).isWellFormed()) return;
        expect(checkPayload([field(type)], { it: value }, 'edited_payload')).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });
});
