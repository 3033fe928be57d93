/**
 * A read model that can be built again beside the one in use.
 *
 * P1 `apply` is a pure function of the events and of its own tables: it reads no clock and tells nobody anything.
 * P2 An event that is applied twice changes nothing the second time, so a rebuild may overlap with what the group still delivers.
 * P3 Readers see the old tables until the new ones have everything the old ones had; they change places in one transaction.
 *
 * How a rebuild is fast: a page is read while the one before it is applied, the new tables have only the indexes that say what is unique until
 * the log was read, and no page waits for the disk, since a rebuild that is cut short begins anew.
 */
import type { EventStore, StoredEvent } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';

export interface Projection {
  /** Name of the read model and of the group that keeps it. */
  name: string;
  /** Schema of its tables. */
  schema: string;
  tables: readonly string[];
  categories: readonly string[];
  /** Applies events in position order to the tables of a schema, which during a rebuild is not its own. */
  apply(tx: PoolClient, events: StoredEvent[], schema: string): Promise<void>;
}

const PAGE = 1_000;

/**
 * Builds the read model anew from the log and puts it in the place of the old one, while the old one answers.
 * @param owner connections of the schema's owner; the application's role may not make tables.
 * @param onProgress positions read, and the position of the newest event.
 */
export async function rebuildProjection(
  projection: Projection,
  deps: { owner: Pool; store: Pick<EventStore, 'readAll' | 'head'> },
  onProgress: (done: number, total: number) => void = () => {},
): Promise<{ events: number }> {
  const { owner, store } = deps;
  const { schema, tables } = projection;
  const next = `${schema}_next`;
  const indexes = (await Promise.all(tables.map((table) => indexesOf(owner, schema, table, next)))).flat();
  await owner.query(
    [
      `drop schema if exists ${next} cascade`,
      `create schema ${next}`,
      ...tables.map((table) => `create table ${next}.${table} (like ${schema}.${table} including all excluding indexes)`),
      ...indexes.filter(({ unique }) => unique).map(({ definition }) => definition),
    ].join(';'),
  );
  const progress = { after: 0, events: 0 };
  const tx = await owner.connect();
  try {
    await tx.query('set synchronous_commit = off');
    await applyLog(projection, store, tx, next, progress, onProgress);
    for (const { unique, definition } of indexes) if (!unique) await tx.query(definition);
    await tx.query(`analyze ${tables.map((table) => `${next}.${table}`).join(', ')}`);
    // What follows is the moment readers see: it is on the disk when it is told.
    await tx.query('reset synchronous_commit');
    await tx.query('begin');
    await tx.query(`lock table ${tables.map((table) => `${schema}.${table}`).join(', ')} in access exclusive mode`);
    // Nothing newer than this can be in the old tables while they are locked; what writers append meanwhile, the group delivers later.
    const { position: newest } = await store.head();
    while (progress.after < newest && (await applyPage(projection, store, tx, next, progress)) > 0);
    for (const table of tables) {
      const { rows } = await tx.query<{ grants: string | null }>(
        `select string_agg(format('grant %s on ${schema}.${table} to %I', privilege_type, grantee), ';') as grants
         from information_schema.role_table_grants where table_schema = $1 and table_name = $2 and grantee <> grantor`,
        [schema, table],
      );
      await tx.query(`drop table ${schema}.${table}; alter table ${next}.${table} set schema ${schema}; ${rows[0]?.grants ?? ''}`);
    }
    await tx.query(`drop schema ${next}`);
    await tx.query('commit');
  } catch (error) {
    await tx.query('rollback').catch(() => {});
    throw error;
  } finally {
    // With the settings it had.
    await tx.query('reset synchronous_commit').catch(() => {});
    tx.release();
  }
  return { events: progress.events };
}

interface Progress {
  after: number;
  events: number;
}

/** The indexes of a table as statements that make them, and its keys, in another schema. */
async function indexesOf(owner: Pool, schema: string, table: string, next: string): Promise<{ unique: boolean; definition: string }[]> {
  const { rows } = await owner.query<{ unique: boolean; definition: string }>(
    `select i.indisunique as unique,
       case when c.oid is null
         then regexp_replace(pg_get_indexdef(i.indexrelid), ' ON (ONLY )?\\S+ USING ', format(' ON %I.%I USING ', $3::text, $2::text))
         else format('alter table %I.%I add constraint %I %s', $3::text, $2::text, c.conname, pg_get_constraintdef(c.oid))
       end as definition
     from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
     where i.indrelid = format('%I.%I', $1::text, $2::text)::regclass`,
    [schema, table, next],
  );
  return rows;
}

/** Applies the log to its end, a transaction for each page, while the next one is read. */
async function applyLog(
  projection: Projection,
  store: Pick<EventStore, 'readAll' | 'head'>,
  tx: PoolClient,
  schema: string,
  progress: Progress,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const read = (after: number) => store.readAll({ after, limit: PAGE, categories: [...projection.categories] });
  for (let page = await read(progress.after); page.length > 0; ) {
    const last = page.at(-1)?.position ?? progress.after;
    const following = page.length === PAGE ? read(last) : Promise.resolve([]);
    // Whether it can be read is asked once this page is done.
    following.catch(() => {});
    await tx.query('begin');
    await projection.apply(tx, page, schema);
    await tx.query('commit');
    progress.after = last;
    progress.events += page.length;
    onProgress(last, (await store.head()).position);
    page = await following;
  }
}

/** Applies one page of the log after where the rebuild stands, and tells how many events it had. */
async function applyPage(
  projection: Projection,
  store: Pick<EventStore, 'readAll'>,
  tx: PoolClient,
  schema: string,
  progress: Progress,
): Promise<number> {
  const events = await store.readAll({ after: progress.after, limit: PAGE, categories: [...projection.categories] });
  if (events.length === 0) return 0;
  await projection.apply(tx, events, schema);
  progress.after = events.at(-1)?.position ?? progress.after;
  progress.events += events.length;
  return events.length;
}
