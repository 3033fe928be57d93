/** The folder of an embedded PostgreSQL: where everything is, making the cluster, and refusing one this program cannot open. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinaries, reachable, reachableBinaries, type ServerUser, serverUser } from './embedded-binaries.js';

/** The embedded PostgreSQL cannot be had. The message is for the person who started the program. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export interface Place {
  folder: string;
  cluster: string;
  log: string;
  /** File with the owner's password, 0600. */
  password: string;
  user: ServerUser | undefined;
  /** The cluster as the server may name it: the working directory where its path is closed to the server's user. */
  dataArgument: string;
  binaries: string;
}

const OLD_DRAFT_MS = 600_000;

/** Superuser of the server, and the database made for it. */
export const OWNER = 'countersign';

export async function prepare(folder: string, platform: string): Promise<Place> {
  const native = await findBinaries(platform);
  if (!native) {
    throw new EmbeddedPostgresError(
      `No embedded PostgreSQL is installed for ${platform}. Run "npm ci" without --omit=optional, or set DATABASE_URL to PostgreSQL 15 or newer.`,
    );
  }
  const user = serverUser();
  await mkdir(folder, { recursive: true });
  // The server's user passes through the folder to its data, and reads nothing else in it.
  if (user) await chmod(folder, 0o711);
  const cluster = join(folder, 'cluster');
  return {
    folder,
    cluster,
    log: join(folder, 'server.log'),
    password: join(folder, 'password'),
    user,
    dataArgument: await dataArgument(folder, cluster, user),
    binaries: await reachableBinaries(native, user, folder),
  };
}

/**
 * A data folder below one the server's user may not pass (root's home) is still reachable as its own working directory: the program
 * enters it before it gives up root. Linux names that directory without walking the path.
 */
async function dataArgument(folder: string, cluster: string, user: ServerUser | undefined): Promise<string> {
  if (!user || (await reachable(folder, user))) return cluster;
  if (process.platform === 'linux') return '/proc/self/cwd';
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot run as root, and the user it runs as instead (uid ${user.uid}) cannot access ${folder}. Choose a DATA_DIR whose parent folders are accessible to other users.`,
  );
}

/** Makes the cluster when there is none, and gives the owner's password. */
export async function initialise(place: Place): Promise<string> {
  const found = await readdir(place.cluster).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) await createCluster(place);
  await checkVersion(place);
  const password = (await readFile(place.password, 'utf8').catch(() => '')).trim();
  if (password === '') {
    throw new EmbeddedPostgresError(
      `${place.password} is missing or empty; the data in ${place.cluster} cannot be opened without it. Restore the file from a backup.`,
    );
  }
  return password;
}

/** Under a name of its own first: half a cluster never stands where a whole one is expected. */
async function createCluster(place: Place): Promise<void> {
  await removeOldDrafts(place.folder);
  const draft = await mkdtemp(join(place.folder, 'new-'));
  try {
    const data = join(draft, 'cluster');
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(draft, 'pw'), await keepPassword(place), { mode: 0o600 });
    if (place.user) {
      for (const path of [draft, data, join(draft, 'pw')]) await chown(path, place.user.uid, place.user.gid);
    }
    const output = await run(
      join(place.binaries, 'bin', 'initdb'),
      [
        ...['-D', place.dataArgument === place.cluster ? data : place.dataArgument],
        ...[`--username=${OWNER}`, '--pwfile=../pw', '--auth=scram-sha-256', '--encoding=UTF8'],
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
      ],
      { cwd: data, ...place.user },
    );
    if (output.code !== 0) throw new EmbeddedPostgresError(`PostgreSQL could not initialize ${place.cluster}: ${output.text.trim()}`);
    await rename(data, place.cluster).catch((error: NodeJS.ErrnoException) => {
      // Another process made the cluster meanwhile: that one counts.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** What was left by processes that ended while they made one. A draft that is being made is seconds old. */
async function removeOldDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('new-')) continue;
    const made = await stat(join(folder, name)).catch(() => null);
    if (made && Date.now() - made.mtimeMs > OLD_DRAFT_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** One password for all that start at once: the first file stays. */
async function keepPassword(place: Place): Promise<string> {
  const file = await open(place.password, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file) {
    await file.writeFile(randomBytes(24).toString('hex'));
    await file.sync();
    await file.close();
  }
  // Whoever came second may read before the first has written.
  for (let tries = 0; ; tries++) {
    const password = (await readFile(place.password, 'utf8')).trim();
    if (password !== '') return password;
    if (tries >= 1_000) throw new EmbeddedPostgresError(`${place.password} is empty. Delete it and start again.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function checkVersion(place: Place): Promise<void> {
  const text = (await readFile(join(place.cluster, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  const output = await run(join(place.binaries, 'bin', 'postgres'), ['--version'], { ...place.user, cwd: '/' });
  const program = Number(/\(PostgreSQL\) (\d+)/.exec(output.text)?.[1]);
  if (!Number.isInteger(program))
    throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot run on this machine: ${output.text.trim()}`);
  if (!/^\d+$/.test(text)) {
    throw new EmbeddedPostgresError(
      `${place.cluster} is not a complete PostgreSQL data directory (PG_VERSION cannot be read). Restore it from a backup.`,
    );
  }
  const data = Number(text);
  if (data > program) {
    throw new EmbeddedPostgresError(
      `The data in ${place.cluster} was written by PostgreSQL ${data}; this version includes PostgreSQL ${program}. Start the newer version of Countersign.`,
    );
  }
  if (data < program) {
    throw new EmbeddedPostgresError(
      `The data in ${place.cluster} was written by PostgreSQL ${data}; this version includes PostgreSQL ${program}. Migrate it with pg_upgrade or a dump, or start the version that wrote it.`,
    );
  }
}

/** Nothing of this program's environment reaches the server: PG* variables would change what it does. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  // biome-ignore lint/style/noProcessEnv: Windows cannot open a socket without this one; it is no setting of ours.
  if (process.platform === 'win32') env.SystemRoot = process.env.SystemRoot;
  return env;
}

async function run(
  program: string,
  args: string[],
  options: { cwd: string; uid?: number; gid?: number },
): Promise<{ code: number | null; text: string }> {
  // Its own group: a Ctrl-C meant for this program lets it finish. The end of this program does not.
  const child = spawn(program, args, { ...options, env: serverEnvironment(), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const endWithUs = () => child.kill();
  process.once('exit', endWithUs);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk;
    });
  }
  const code = await new Promise<number | null>((done) => {
    child.once('error', (error) => {
      text += error.message;
      done(-1);
    });
    child.once('close', done);
  });
  process.off('exit', endWithUs);
  return { code, text };
}
