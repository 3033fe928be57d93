/** A payload against the fields its template declares (decision 8). Undeclared keys are kept; their values are anybody's. */
import type { Field, FieldType } from '@countersign/contracts';
import { canonicalize, NotCanonicalError } from '@countersign/evidence';
import { type ReviewRefusal, refuse } from '../refusals.js';

type Check = (value: unknown, field: Field) => string | null;

const string = (value: unknown): string | null => (typeof value === 'string' ? null : 'must be a string');

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

function isDate(value: string): boolean {
  const [, year, month, day] = DATE.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isWebUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
}

/** Media is shown from where it is: an address, or the bytes in the value. SVG and HTML can carry scripts and are no media. */
function media(kind: 'image' | 'video'): Check {
  const inline = new RegExp(`^data:${kind}/(?!svg)[a-z0-9.+-]+;base64,[A-Za-z0-9+/]*={0,2}$`, 'i');
  return (value) =>
    typeof value === 'string' && (inline.test(value) || isWebUrl(value))
      ? null
      : `must be an http(s) address or a data: URI of type ${kind}`;
}

const CHECKS: Record<FieldType, Check> = {
  text: string,
  markdown: string,
  json: () => null,
  image: media('image'),
  video: media('video'),
  number: (value) => (typeof value === 'number' ? null : 'must be a number'),
  boolean: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  select: (value, field) => (typeof value === 'string' && field.options?.includes(value) ? null : 'must be one of the options'),
  buttons: (value, field) =>
    field.options === undefined ? string(value) : field.options.includes(value as string) ? null : 'must be one of the options',
  date: (value) => (typeof value === 'string' && isDate(value) ? null : 'must be a date (2026-11-30) or an RFC 3339 date and time'),
  url: (value) => (typeof value === 'string' && isWebUrl(value) ? null : 'must be an http or https address'),
};

/** Nothing a person could see: empty, white space, or characters that leave no mark, such as a zero-width space. */
const BLANK = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}]*$/u;
const isProse = ({ type }: Field): boolean => type === 'text' || type === 'markdown';

function problemOf(field: Field, payload: Record<string, unknown>): string | null {
  const value = Object.hasOwn(payload, field.name) ? payload[field.name] : undefined;
  if (value === undefined || value === null) return field.required ? 'is required' : null;
  if (field.required && isProse(field) && typeof value === 'string' && BLANK.test(value)) return 'must not be blank';
  return CHECKS[field.type](value, field);
}

/**
 * `payload_invalid` with the path of the first offending field in `param` and of each in `details`; null when the payload is fine.
 * @param member name of the body's member the payload came in, for the paths.
 */
export function checkPayload(fields: readonly Field[], payload: Record<string, unknown>, member: string): ReviewRefusal | null {
  try {
    canonicalize({ payload });
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error;
    return refuse('payload_invalid', `The payload cannot be canonicalized: ${error.message}.`, { param: member });
  }
  const details = fields.flatMap((field) => {
    const message = problemOf(field, payload);
    return message === null ? [] : [{ path: `${member}.${field.name}`, message, code: 'custom' }];
  });
  const first = details[0];
  if (!first) return null;
  return refuse('payload_invalid', `${first.path} ${first.message}.`, { param: first.path, details });
}
