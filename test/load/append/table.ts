/** A table like ours for whoever is held against it: the same columns a reader needs, the same two indexes, and nothing else to do. */
export const tableOf = (name: string): string => `
  create schema if not exists bench;
  create table bench.${name} (
    position bigint generated always as identity primary key,
    stream uuid not null,
    version integer not null,
    id uuid not null,
    project uuid not null,
    time timestamptz not null default clock_timestamp(),
    type text not null,
    body text not null,
    meta text not null,
    unique (stream, version)
  )`;

/** Time-ordered keys, as ours are: random ones would cost an insert more. */
export const insertInto = (name: string): string =>
  `insert into bench.${name} (stream, version, id, project, type, body, meta) values (uuidv7(), 1, uuidv7(), uuidv7(), $1, $2, $3)`;
