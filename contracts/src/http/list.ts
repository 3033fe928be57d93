/** Lists and pages (HRP §0, §13; decision 14). */
import { message, ref, type Static, type TSchema, Type } from '../schema.js';
import { count, pathId } from './primitives.js';

/** A page of a list. `total` counts all matches; `total_is_capped` says that counting stopped at 10,000. */
export function ListOf<S extends TSchema>(id: string, item: S) {
  return message(
    id,
    Type.Object({
      object: Type.Unsafe<'list'>({ type: 'string', const: 'list' }),
      items: Type.Array(ref(item)),
      has_more: Type.Boolean(),
      total: count('Total number of matches, not the number of items on this page.'),
      total_is_capped: Type.Optional(
        Type.Unsafe<true>({ type: 'boolean', const: true, description: 'Present when counting stopped at total.' }),
      ),
      next_cursor: Type.Optional(Type.String({ description: 'Pass as cursor to get the next page; absent on the last page.' })),
    }),
  );
}

/** A type word a single object carries in `object`. */
export function objectType<const T extends string>(type: T) {
  return Type.Unsafe<T>({ type: 'string', const: type });
}

/** Members of a list's query: page by `limit` and `offset`, or by `limit` and `cursor`. What is out of range is refused. */
export const page = () => pageMembers({});

/** The same for HRP's older lists, which read what is malformed as absent and what is too big as the biggest (HRP §0). */
export const lenientPage = () => pageMembers({ 'x-lenient': true });

const pageMembers = (how: { 'x-lenient'?: true }) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, ...how })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, ...how })),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: 'next_cursor of the previous page; cannot be combined with offset.' }),
  ),
});

export const IdParams = message('IdParams', Type.Object({ id: pathId() }));
export type IdParams = Static<typeof IdParams>;

export const TokenParams = message('TokenParams', Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) }));
export type TokenParams = Static<typeof TokenParams>;

/** A success that says nothing more. */
export const Ok = message('Ok', Type.Object({ ok: Type.Unsafe<true>({ type: 'boolean', const: true }) }));
export type Ok = Static<typeof Ok>;
