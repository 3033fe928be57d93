/**
 * What a machine that runs everything in one process keeps in DATA_DIR.
 *
 *   layout.json       version of this layout, written first; later, that postgres/ has held a database
 *   lock.json         who works on it now (lock.ts)
 *   secrets.json      keys made at the first start (secrets.ts)
 *   first-start.json  what a first start has chosen, until it is finished (demo-project.ts)
 *   credentials.json  what a developer needs to try it (credentials.ts)
 *   postgres/         the embedded PostgreSQL, unless DATABASE_URL is set
 *
 * Everything is created with mode 0700 or 0600, except that PostgreSQL's own user must reach its folder when the process runs as root.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CannotStart, systemCode } from '../cannot-start.js';
import { readIfThere, writePrivate } from './files.js';
import { type Lock, takeLock } from './lock.js';
import { type PlatformSecrets, platformSecrets } from './secrets.js';

const LAYOUT = 1;
const LAYOUT_FILE = 'layout.json';

export interface DataDirectory {
  path: string;
  lock: Lock;
  secrets: PlatformSecrets;
  /** Nothing was there before. */
  fresh: boolean;
  /** Where the embedded PostgreSQL lives. */
  postgres: string;
  /**
   * Refuses when the directory has been in use and its database is gone, as where a volume is not mounted: an empty one in its place would
   * look like lost reviews, and its first reader would be told that all is well. A first start that was killed before it made the database
   * left neither mark nor credentials, and goes on.
   * @throws {CannotStart}
   */
  expectDatabase(): void;
  /** Marks that `postgres/` holds a database from now on. */
  databaseMade(): void;
}

/** Whether a server has begun to keep data there. */
export const hasData = (dataDir: string): boolean => existsSync(join(resolve(dataDir), LAYOUT_FILE));

/**
 * Opens a data directory, creating it when it is not there, and locks it.
 * @param options.create false for commands that work on what a server has left behind.
 * @throws {CannotStart} when it is in use, not ours, damaged, newer than this version, or not writable.
 */
export async function openDataDirectory(dataDir: string, options: { command: string; create: boolean }): Promise<DataDirectory> {
  const path = resolve(dataDir);
  try {
    if (!options.create && !hasData(path)) {
      throw new CannotStart(`${path} contains no Countersign data. Set DATA_DIR, or start a server there first (\`npm start\`).`);
    }
    makeFolder(path);
    const fresh = checkLayout(path);
    const lock = await takeLock(path, options.command);
    try {
      if (fresh) writeLayout(path, { layout: LAYOUT });
      const postgres = join(path, 'postgres');
      const secrets = platformSecrets(path, fresh || !(existsSync(postgres) || readLayout(path)?.database));
      return {
        ...{ path, lock, secrets, fresh, postgres },
        expectDatabase: () => expectDatabase(path, postgres),
        databaseMade: () => {
          if (!readLayout(path)?.database) writeLayout(path, { layout: LAYOUT, database: true });
        },
      };
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw explain(error, path);
  }
}

/**
 * A folder and those above it that are missing. Node's own recursive `mkdir` never returns where a folder exists and nothing can be made in it
 * because the system says so with ENOENT, as under /proc.
 */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(path);
    if (systemCode(error) !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above);
    mkdirSync(path, { mode: 0o700 });
  }
}

function expectDatabase(path: string, postgres: string): void {
  const cluster = join(postgres, 'cluster');
  if (existsSync(cluster)) return;
  if (!readLayout(path)?.database && readIfThere(join(path, 'credentials.json')) === null) return;
  throw new CannotStart(
    `${path} has been in use, but its database ${cluster} is missing. Mount or restore it, set DATABASE_URL if the data is in another PostgreSQL, or set DATA_DIR to another directory.`,
  );
}

interface Layout {
  layout: number;
  /** `postgres/` has held a database. */
  database?: boolean;
}

function writeLayout(path: string, layout: Layout): void {
  writePrivate(join(path, LAYOUT_FILE), `${JSON.stringify(layout)}\n`);
}

function readLayout(path: string): Layout | null {
  const text = readIfThere(join(path, LAYOUT_FILE));
  return text === null ? null : parseLayout(text);
}

/** True when there is nothing in it yet. */
function checkLayout(path: string): boolean {
  const file = join(path, LAYOUT_FILE);
  const text = readIfThere(file);
  if (text === null) {
    const strangers = readdirSync(path).filter((name) => !name.startsWith('lock.') && !name.startsWith(LAYOUT_FILE));
    if (strangers.length > 0) {
      throw new CannotStart(
        `${path} is not empty and contains no Countersign data (${LAYOUT_FILE} is missing). Set DATA_DIR to another directory, or restore the file.`,
      );
    }
    return true;
  }
  const layout = parseLayout(text)?.layout ?? null;
  if (layout === null) {
    throw new CannotStart(`${file} is damaged. Restore the data directory from a backup, or set DATA_DIR to another directory.`);
  }
  if (layout > LAYOUT) {
    throw new CannotStart(
      `${path} was written by a newer version of Countersign (layout ${layout}; this version supports ${LAYOUT}). Start that version, or set DATA_DIR to another directory.`,
    );
  }
  return false;
}

function parseLayout(text: string): Layout | null {
  try {
    const { layout, database } = JSON.parse(text) as Record<keyof Layout, unknown>;
    return Number.isInteger(layout) ? { layout: layout as number, database: database === true } : null;
  } catch {
    return null;
  }
}

function explain(error: unknown, path: string): unknown {
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new CannotStart(
        `${path} is not writable by this user (${systemCode(error)}). Change its owner, or set DATA_DIR to another directory.`,
        { cause: error },
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new CannotStart(`${path} is not a directory. Set DATA_DIR to a directory.`, { cause: error });
    case 'ENOENT':
    case 'ENOSYS':
      return new CannotStart(`Cannot create a directory at ${path}. Set DATA_DIR to another path.`, { cause: error });
    case 'ENOSPC':
      return new CannotStart(`The disk containing ${path} is full.`, { cause: error });
    case undefined:
      return error;
    default:
      return new CannotStart(`${path} cannot be used (${systemCode(error)}). Set DATA_DIR to another directory.`, { cause: error });
  }
}
