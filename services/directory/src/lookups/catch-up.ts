import { CATEGORY_PREFIXES, type Category } from '@countersign/contracts';
import { type Fold, idOf, type LoadedStream } from '@countersign/event-store';
import type { DirectoryDeps } from '../deps.js';
import { type KeyEvent, keyFold } from '../key/key.js';
import { type PersonEvent, personFold } from '../person/person.js';
import { type ProjectEvent, projectFold } from '../project/project.js';
import { saveKey, savePerson, saveProject } from './save.js';

/**
 * Brings look-up rows to what their streams say.
 *
 * C1 a command appends first and saves its rows after; killed between the two, its rows are behind their stream;
 * C2 every question reads the stream's version in the statement that reads the rows, so it notices, and catches up before it answers:
 *    a revoked person or key is never let in by a row that is behind;
 *    Somebody who is about to join is noted beforehand (directory.joining), so a membership that has no row yet is not overlooked either;
 * C3 catching up folds the stream and saves; doing it twice, or by two processes at once, changes nothing.
 */
type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

/** @param ids TypeIDs of projects, people and keys. Streams that do not exist are passed over. */
export async function catchUp(deps: Deps, ids: readonly string[]): Promise<void> {
  for (const id of new Set(ids)) {
    switch (id.slice(0, id.lastIndexOf('_'))) {
      case 'prj': {
        const { state, version } = folded(projectFold, await deps.store.readStream<ProjectEvent>(id));
        await saveProject(deps.pool, id, state, version);
        break;
      }
      case 'per': {
        const { state, version } = folded(personFold, await deps.store.readStream<PersonEvent>(id));
        await savePerson(deps.pool, id, state, version);
        break;
      }
      case 'key': {
        const { state, version } = folded(keyFold, await deps.store.readStream<KeyEvent>(id));
        await saveKey(deps.pool, id, state, version);
        break;
      }
      default:
        throw new Error(`The directory keeps no look-up of ${id}.`);
    }
  }
}

function folded<S, E extends KeyEvent | PersonEvent | ProjectEvent>(fold: Fold<S, E>, loaded: LoadedStream<E>) {
  return { state: loaded.events.reduce((state, event) => fold.evolve(state, event), fold.initial()), version: loaded.version };
}

/**
 * Catches up every row that is behind, such as after a crash in another process. Run when the directory starts.
 * One scan of the store's streams.
 * @returns how many streams were behind.
 */
export async function catchUpAll(deps: Deps): Promise<number> {
  const { rows } = await deps.pool.query<{ stream: string; category: Category }>(
    `select s.stream, s.category
       from event_store.streams s
       left join (select id, version from directory.projects union all select id, version from directory.persons
                  union all select id, version from directory.api_keys union all select stream, version from directory.gone) r on r.id = s.stream
      where s.category in ('project', 'person', 'key') and r.version is distinct from s.version`,
  );
  await catchUp(
    deps,
    rows.map((row) => idOf(CATEGORY_PREFIXES[row.category], row.stream)),
  );
  return rows.length;
}

/** Makes every look-up row anew from the log, live: rows are replaced one stream at a time, and none is missing meanwhile. */
export async function rebuildLookups(deps: Deps, onProgress?: (done: number, total: number) => void): Promise<number> {
  const { rows } = await deps.pool.query<{ stream: string; category: Category }>(
    `select stream, category from event_store.streams where category in ('project', 'person', 'key') order by first_position`,
  );
  for (const [index, row] of rows.entries()) {
    await catchUp(deps, [idOf(CATEGORY_PREFIXES[row.category], row.stream)]);
    onProgress?.(index + 1, rows.length);
  }
  for (const table of ['projects', 'persons', 'api_keys']) {
    await deps.pool.query(`delete from directory.${table} where not exists (select from event_store.streams s where s.stream = id)`);
  }
  return rows.length;
}
