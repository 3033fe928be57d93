/** What a typed text means as the value of a field, held to what the server takes (decisions 8, 17). */
import type { FieldType, TemplateField } from '@countersign/contracts';
import { duplicateKey } from '../oddities/duplicate-key.js';

export interface TypedValue {
  value: unknown;
  problem?: string;
}

type Reader = (text: string) => TypedValue;

const asIs: Reader = (text) => ({ value: text });

/** A number, unless its decimal is not that of its double: what is approved is what was typed. */
const number: Reader = (text) => {
  const trimmed = text.trim();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed)) return { value: text, problem: 'Enter a number, such as 12.50.' };
  const value = Number(trimmed);
  if (!survives(trimmed)) return { value: text, problem: 'This number has too many digits to be stored exactly.' };
  return { value: Object.is(value, -0) ? 0 : value };
};

const json: Reader = (text) => {
  try {
    const value: unknown = JSON.parse(text);
    const lossy = lossyNumber(text);
    if (lossy !== null) return { value: text, problem: `${lossy} has too many digits to be stored exactly; put it in quotes.` };
    const twice = duplicateKey(text);
    if (twice !== null)
      return { value: text, problem: `The key ${JSON.stringify(twice)} is there twice in one object; only one of them would be sent.` };
    return { value };
  } catch (error) {
    const why = error instanceof SyntaxError ? ` (${error.message})` : '';
    return { value: text, problem: `Invalid JSON${why}.` };
  }
};

const DATE = /^(\d{4})-(\d{2})-(\d{2})([Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

const date: Reader = (text) => {
  const day = DATE.exec(text.trim())?.slice(1, 4).join('-');
  const midnight = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`);
  const real = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(`${day}`);
  if (!real) return { value: text, problem: 'Enter a date such as 2026-11-30, or a date and time such as 2026-11-30T09:00:00Z.' };
  return { value: text.trim() };
};

const url: Reader = (text) => {
  const protocol = URL.parse(text.trim())?.protocol;
  if (protocol !== 'https:' && protocol !== 'http:') return { value: text, problem: 'Enter a URL that begins with https:// or http://.' };
  return { value: text.trim() };
};

function media(kind: 'image' | 'video'): Reader {
  const inline = new RegExp(`^data:${kind}/(?!svg)[a-z0-9.+-]+;base64,[A-Za-z0-9+/]*={0,2}$`, 'i');
  return (text) => (inline.test(text.trim()) ? { value: text.trim() } : url(text));
}

const READERS: Record<FieldType, Reader> = {
  text: asIs,
  markdown: asIs,
  json,
  image: media('image'),
  video: media('video'),
  number,
  boolean: asIs,
  select: asIs,
  buttons: asIs,
  date,
  url,
};

/** Fields in which an empty text is a value like any other, where there need not be one. */
const TAKES_EMPTY: readonly FieldType[] = ['text', 'markdown'];

export function readTyped(field: Pick<TemplateField, 'type' | 'required'>, text: string): TypedValue {
  if (text.trim() === '') {
    const value = TAKES_EMPTY.includes(field.type) ? text : null;
    return field.required ? { value, problem: 'This field is required.' } : { value };
  }
  return READERS[field.type](text);
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/**
 * The first number of a JSON text that does not survive; null without one. From the text itself: what browsers before 2025 hand a reviver of
 * `JSON.parse` is the number they have already rounded.
 */
function lossyNumber(text: string): string | null {
  for (const [token] of text.matchAll(STRING_OR_NUMBER)) if (!token.startsWith('"') && !survives(token)) return token;
  return null;
}

/** Whether the decimal a literal stands for is the one its double prints as (decision 17). */
function survives(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && digitsOf(literal) === digitsOf(String(value));
}

/** A decimal literal in one form: its significant digits and the power of ten they are counted in. */
function digitsOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?$/i.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}
