/** Values that can be told apart from everything else, put wherever a caller may write. */

/** Stands in every marked value. Letters only, so that it fits names, slugs, addresses and paths alike. */
export const MARK = 'qzxmarked';

type Json = unknown;

const ID = /^[a-z]{3}_[0-9a-z]{26}$/;
const DATE = /^\d{4}-\d\d-\d\d/;

/** A body with a mark in each text, but for those at `plain`, paths such as `fields[0].type`. */
export function marked(value: Json, plain: ReadonlySet<string>, path = ''): Json {
  if (plain.has(path)) return value;
  if (typeof value === 'string') return markedText(value);
  if (Array.isArray(value)) return value.map((item, n) => marked(item, plain, `${path}[${n}]`));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, marked(member, plain, path === '' ? key : `${path}.${key}`)]),
  );
}

function markedText(text: string): string {
  if (ID.test(text) || DATE.test(text)) return text;
  if (/^https?:\/\//.test(text)) return `${text}/${MARK}?token=${MARK}`;
  if (text.includes('@')) return `${MARK}.${text}`;
  return `${text}${MARK}`;
}

/** Paths of every text of a value. */
export function textsOf(value: Json, path = ''): string[] {
  if (typeof value === 'string') return [path];
  if (Array.isArray(value)) return value.flatMap((item, n) => textsOf(item, `${path}[${n}]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, member]) => textsOf(member, path === '' ? key : `${path}.${key}`));
}

/** Where a refusal says the fault is, as `marked` names it: `body.fields[0].type`, `body.fields.0.type`. */
export const placeOf = (param: string): string => param.replace(/^body\.?/, '').replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');
