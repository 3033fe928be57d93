/**
 * The supervisor of an embedded PostgreSQL: one data folder, one server, one owner.
 *
 * E1 The server listens on 127.0.0.1 at a free port, asks everybody for a password (scram) and makes no socket file.
 * E2 It runs in its own process group with its log in a file, so a signal or the death of this process does not tear it down half way.
 * E3 This process's end takes the server along: `stop()`, an exit, or a signal nobody else listens for. Only SIGKILL leaves it running.
 * E4 A server that was left running is adopted by the next start; a `postmaster.pid` of a dead one is no obstacle.
 * E5 One process owns the server at a time: the owner holds an advisory lock on it through an open connection, which ends with the owner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findBinaries, reachable, reachableBinaries, type ServerUser, serverUser } from './embedded-binaries.js';
import { alive, dieWithUs, isServerOf, lastLines, readPostmasterPid } from './embedded-process.js';

/** The embedded PostgreSQL cannot be had. The message is for the person who started the program. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export interface EmbeddedPostgres {
  /** Connection string of the owner (a superuser of this server), database `countersign`. Holds the password. */
  url: string;
  /** The postmaster. */
  pid: number;
  /** The server was found running, left by a process that was killed. */
  adopted: boolean;
  /** Resolves when the server is gone, whoever ended it. */
  exited: Promise<void>;
  /** Ends open transactions, checkpoints and stops; resolves when the process is gone. */
  stop(): Promise<void>;
}

interface Place {
  folder: string;
  cluster: string;
  log: string;
  password: string;
  user: ServerUser | undefined;
  /** The data folder as the server may name it, see `dataArgument`. */
  dataArgument: string;
  binaries: string;
}

const OWNER = 'countersign';
const LOCK = 7316243872;
const START_MS = 120_000;

/**
 * Starts PostgreSQL on a folder of its own (created when missing), or adopts the one running there.
 *
 * The folder holds `cluster/` (the data), `password` (0600) and `server.log`.
 * @throws {EmbeddedPostgresError} no binaries for this platform, folder of a newer or older major version, corrupt folder, folder in use.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  logger?: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Extra server settings, such as `{ max_connections: '200' }`. */
  settings?: Record<string, string>;
  /** Whose binaries: `linux-x64`, …; this machine's when omitted. */
  platform?: string;
}): Promise<EmbeddedPostgres> {
  const place = await prepare(resolve(options.dataDir), options.platform ?? `${process.platform}-${process.arch}`);
  const password = await initialise(place);
  const running = await findRunning(place, password);
  const server = running ?? (await start(place, password, options.settings ?? {}));
  const client = await own(server.port, password, place);
  options.logger?.info({ pid: server.pid, adopted: running !== null }, 'PostgreSQL is running');

  let stopping: Promise<void> | null = null;
  const forget = dieWithUs(server.pid);
  const gone = new Promise<void>((settle) => {
    client.once('end', () => void waitForDeath(server.pid).then(settle));
  });
  void gone.then(forget);
  const stop = async () => {
    if (alive(server.pid)) process.kill(server.pid, 'SIGINT');
    await waitForDeath(server.pid);
    await client.end().catch(() => {});
    forget();
  };
  return {
    url: urlOf(server.port, password, OWNER),
    pid: server.pid,
    adopted: running !== null,
    exited: gone,
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function urlOf(port: number, password: string, database: string): string {
  return `postgresql://${OWNER}:${password}@127.0.0.1:${port}/${database}`;
}

async function prepare(folder: string, platform: string): Promise<Place> {
  const native = await findBinaries(platform);
  if (!native) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in this installation. Run "npm ci" without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or newer.`,
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
    binaries: await reachableBinaries(native, user),
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
    `PostgreSQL does not run as root, and the user it runs as (uid ${user.uid}) cannot reach ${folder}. Choose a DATA_DIR outside folders closed to others.`,
  );
}

/** Makes the cluster when there is none, under a name of its own first: half a cluster never stands where a whole one is expected. */
async function initialise(place: Place): Promise<string> {
  const found = await readdir(place.cluster).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) await createCluster(place);
  await checkVersion(place);
  const password = (await readFile(place.password, 'utf8').catch(() => '')).trim();
  if (password === '') {
    throw new EmbeddedPostgresError(
      `${place.password} is missing or empty, and without it the data in ${place.cluster} cannot be opened. Restore that file from a backup.`,
    );
  }
  return password;
}

async function createCluster(place: Place): Promise<void> {
  const draft = await mkdtemp(join(place.folder, 'new-'));
  try {
    const data = join(draft, 'cluster');
    await mkdir(data, { mode: 0o700 });
    const password = await keepPassword(place);
    await writeFile(join(draft, 'pw'), password, { mode: 0o600 });
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
      { cwd: data, ...place.user, env: serverEnvironment() },
    );
    if (output.code !== 0)
      throw new EmbeddedPostgresError(`PostgreSQL could not create its data in ${place.cluster}: ${output.text.trim()}`);
    await rename(data, place.cluster).catch((error: NodeJS.ErrnoException) => {
      // Another process made the cluster meanwhile: that one counts.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
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
  return (await readFile(place.password, 'utf8')).trim();
}

async function checkVersion(place: Place): Promise<void> {
  const text = await readFile(join(place.cluster, 'PG_VERSION'), 'utf8').catch(() => '');
  const data = Number(text.trim());
  const output = await run(join(place.binaries, 'bin', 'postgres'), ['--version'], { ...place.user, cwd: '/', env: serverEnvironment() });
  const program = Number(/\(PostgreSQL\) (\d+)/.exec(output.text)?.[1]);
  if (!Number.isInteger(program)) throw new EmbeddedPostgresError(`The embedded PostgreSQL does not run here: ${output.text.trim()}`);
  if (text.trim() === '' || !Number.isInteger(data)) {
    throw new EmbeddedPostgresError(
      `${place.cluster} is not a whole PostgreSQL data folder (no readable PG_VERSION). Restore it from a backup, or move it away to start empty.`,
    );
  }
  if (data > program) {
    throw new EmbeddedPostgresError(
      `The data in ${place.cluster} was written by PostgreSQL ${data}, newer than the ${program} this program brings. Start the newer version of the program.`,
    );
  }
  if (data < program) {
    throw new EmbeddedPostgresError(
      `The data in ${place.cluster} was written by PostgreSQL ${data}; this program brings ${program}. Move it with pg_upgrade or a dump, or start the version that wrote it.`,
    );
  }
}

/** The server left by a process that was killed, once it accepts connections; null when there is none (any more). */
async function findRunning(place: Place, password: string): Promise<{ pid: number; port: number } | null> {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const file = await readPostmasterPid(place.cluster);
    if (!file) return null;
    if (!alive(file.pid) || !(await isServerOf(file.pid, place.cluster))) {
      // The number may belong to somebody else by now; PostgreSQL would take that process for a server and refuse to start.
      await rm(join(place.cluster, 'postmaster.pid'), { force: true });
      return null;
    }
    if (file.port !== null && (await accepts(file.port, password))) return { pid: file.pid, port: file.port };
    await sleep(50);
  }
  throw new EmbeddedPostgresError(
    `A PostgreSQL is running on ${place.cluster} and does not accept connections. Stop it and start again; its log is ${place.log}.`,
  );
}

async function start(place: Place, password: string, settings: Record<string, string>): Promise<{ pid: number; port: number }> {
  const deadline = Date.now() + START_MS;
  let said = '';
  while (Date.now() < deadline) {
    const port = await freePort();
    const before = await stat(place.log).then(
      (s) => s.size,
      () => 0,
    );
    const child = await launch(place, port, settings);
    const outcome = await untilReady(child, port, password, deadline);
    if (outcome === 'ready') return { pid: child.pid as number, port };
    said = await lastLines(place.log, before);
    // The two that pass by themselves: children of a killed server still hold its memory; the port was taken since we looked.
    if (!/shared memory block|could not bind|Address already in use|could not create any TCP/.test(said)) {
      const other = /lock file "postmaster.pid" already exists/.test(said) ? await findRunning(place, password) : null;
      if (other) return other;
      break;
    }
    await sleep(100);
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL could not be started on ${place.cluster}; the data may be damaged. Its last words (${place.log}): ${said.trim() || 'none'}`,
  );
}

async function launch(place: Place, port: number, settings: Record<string, string>): Promise<ChildProcess> {
  const log = await open(place.log, 'a', 0o600);
  const options = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    logging_collector: 'off',
    log_min_messages: 'warning',
    ...settings,
  };
  try {
    const child = spawn(
      join(place.binaries, 'bin', 'postgres'),
      ['-D', place.dataArgument, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { cwd: place.cluster, ...place.user, env: serverEnvironment(), detached: true, stdio: ['ignore', log.fd, log.fd] },
    );
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

async function untilReady(child: ChildProcess, port: number, password: string, deadline: number): Promise<'ready' | 'gone'> {
  let gone = child.pid === undefined;
  child.once('exit', () => {
    gone = true;
  });
  child.once('error', () => {
    gone = true;
  });
  while (!gone && Date.now() < deadline) {
    if (await accepts(port, password)) return gone ? 'gone' : 'ready';
    await sleep(20);
  }
  if (!gone) child.kill('SIGQUIT');
  return 'gone';
}

async function accepts(port: number, password: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: urlOf(port, password, 'postgres'), connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Takes the owner's lock and makes the database. The connection stays open and does not keep the process alive. */
async function own(port: number, password: string, place: Place): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: urlOf(port, password, 'postgres'),
    application_name: 'countersign supervisor',
    keepAlive: true,
  });
  client.on('error', () => {});
  await client.connect();
  // A predecessor that was killed a moment ago may not have been noticed yet.
  for (let tries = 0; ; tries++) {
    const { rows } = await client.query<{ ours: boolean }>('select pg_try_advisory_lock($1) as ours', [LOCK]);
    if (rows[0]?.ours) break;
    if (tries >= 20) {
      await client.end();
      throw new EmbeddedPostgresError(
        `${place.folder} is in use by another running instance. Stop that one first, or choose another DATA_DIR.`,
      );
    }
    await sleep(100);
  }
  const { rowCount } = await client.query('select from pg_database where datname = $1', [OWNER]);
  if (rowCount === 0) await client.query(`create database ${OWNER}`);
  (client as unknown as { unref(): void }).unref();
  return client;
}

async function waitForDeath(pid: number): Promise<void> {
  while (alive(pid)) await sleep(10);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Nothing of this program's environment reaches the server: PG* variables would change what it does. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...(process.env.SystemRoot ? { SystemRoot: process.env.SystemRoot } : {}) };
}

async function run(
  program: string,
  args: string[],
  options: { cwd: string; uid?: number; gid?: number; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; text: string }> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise<number | null>((done) => {
    child.once('error', (error) => {
      text += error.message;
      done(-1);
    });
    child.once('close', done);
  });
  return { code, text };
}
