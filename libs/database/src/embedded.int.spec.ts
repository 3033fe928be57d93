import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';
import { alive } from './embedded-process.js';

jest.setTimeout(120_000);
const asRoot = process.getuid?.() === 0;
let initialised: string;
let folder: string;
let dataDir: string;
const started: EmbeddedPostgres[] = [];

beforeAll(async () => {
  initialised = await mkdtemp(join(tmpdir(), 'countersign-initialised-'));
  await (await startEmbeddedPostgres({ dataDir: join(initialised, 'postgres') })).stop();
});
afterAll(() => rm(initialised, { recursive: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-embedded-'));
  if (asRoot) await spawnToEnd('chmod', ['755', folder]);
  dataDir = join(folder, 'postgres');
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A folder as an earlier start left it: making one takes most of the time of a first start. */
async function useInitialised(): Promise<void> {
  await spawnToEnd('cp', ['-a', join(initialised, 'postgres'), dataDir]);
}

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir });
  started.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function spawnToEnd(program: string, args: string[]): Promise<number | null> {
  return new Promise((resolve) => spawn(program, args).once('close', resolve));
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The condition did not come true.');
}

/** Another process that starts the server on the same folder, prints `pid url`, and then does what it is told. */
async function inProcess(then: string): Promise<{ child: ChildProcess; pid: number; url: string; ended: Promise<string> }> {
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import ${JSON.stringify(new URL('../../testing/jest/source.mjs', import.meta.url).href)};
     const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)});
     const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)} });
     const keep = setInterval(() => {}, 1000);
     setTimeout(() => console.log(server.pid + ' ' + server.url));
     ${then}`,
  );
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? String(code))));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk) => resolve(String(chunk)));
    child.once('exit', () => reject(new Error('The program ended before the server was there.')));
  });
  const [pid, url] = line.trim().split(' ');
  return { child, pid: Number(pid), url: url as string, ended };
}

describe('an embedded PostgreSQL', () => {
  it('listens on loopback only, asks for a password, makes no socket and syncs its writes', async () => {
    // Left by one that was killed while it made its cluster.
    await mkdir(join(dataDir, 'new-old'), { recursive: true });
    await utimes(join(dataDir, 'new-old'), new Date(0), new Date(0));
    const server = await start();
    expect((await readdir(dataDir)).sort()).toEqual(['cluster', 'password', 'server.log']);
    expect(new URL(server.url)).toMatchObject({ hostname: '127.0.0.1', pathname: '/countersign' });
    const settings = await query(
      server.url,
      `select name, setting from pg_settings where name in ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'password_encryption', 'server_encoding')`,
    );
    expect(Object.fromEntries(settings.map((row) => [row.name, row.setting]))).toEqual({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      password_encryption: 'scram-sha-256',
      server_encoding: 'UTF8',
    });
    const rules = await query(server.url, 'select distinct auth_method from pg_hba_file_rules');
    expect(rules).toEqual([{ auth_method: 'scram-sha-256' }]);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600);
    expect(server.adopted).toBe(false);
  });

  it('keeps its data from one start to the next', async () => {
    await useInitialised();
    const first = await start();
    await query(first.url, "create table kept (text text); insert into kept values ('still here')");
    await first.stop();
    expect(alive(first.pid)).toBe(false);
    await first.exited;
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select text from kept')).toEqual([{ text: 'still here' }]);
    expect((await readdir(dataDir)).sort()).toEqual(['cluster', 'password', 'server.log']);
  });

  it('says when it is gone, whoever ended it', async () => {
    await useInitialised();
    const server = await start();
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    expect(alive(server.pid)).toBe(false);
  });

  it('comes up again after it was killed with all its processes', async () => {
    await useInitialised();
    const first = await start();
    await query(first.url, 'create table kept (n integer); insert into kept select generate_series(1, 1000)');
    const { rows } = { rows: await query(first.url, 'select pid from pg_stat_activity') };
    for (const pid of [first.pid, ...rows.map((row) => Number(row.pid))]) {
      if (alive(pid)) process.kill(pid, 'SIGKILL');
    }
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select count(*)::integer as n from kept')).toEqual([{ n: 1000 }]);
  });

  it('is not stopped by a postmaster.pid that names some other process', async () => {
    await useInitialised();
    const first = await start();
    await first.stop();
    // A process of the server's own user: PostgreSQL itself would take it for a running server.
    const other = spawn('sleep', ['600'], asRoot ? { uid: 65534, gid: 65534 } : {});
    const file = join(dataDir, 'cluster', 'postmaster.pid');
    await writeFile(file, `${other.pid}\n${join(dataDir, 'cluster')}\n0\n5432\n\n127.0.0.1\n0 0\nready\n`);
    if (asRoot) await chown(file, 65534, 65534);
    const second = await start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    other.kill();
  });
});

describe('the process that started it', () => {
  beforeEach(useInitialised);

  it('killed leaves it running, and the next start adopts it', async () => {
    const { child, pid, url, ended } = await inProcess('');
    await query(url, "create table kept (text text); insert into kept values ('adopted')");
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    expect(alive(pid)).toBe(true);
    const server = await start();
    expect(server).toMatchObject({ adopted: true, pid, url });
    expect(await query(server.url, 'select text from kept')).toEqual([{ text: 'adopted' }]);
    await server.stop();
    expect(alive(pid)).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ended by %s takes it along', async (signal) => {
    const { child, pid, ended } = await inProcess('');
    child.kill(signal);
    expect(await ended).toBe(signal);
    await until(() => !alive(pid));
  });

  it.each([
    ['process.exit(3)', 'setTimeout(() => process.exit(3), 50);', '3'],
    [
      'an error nobody caught',
      "process.on('uncaughtException', () => process.exit(7)); setTimeout(() => { throw new Error('on purpose'); }, 50);",
      '7',
    ],
    ['having nothing more to do', 'setTimeout(() => clearInterval(keep), 50);', '0'],
  ])('ended by %s takes it along', async (_, then, code) => {
    const { pid, ended } = await inProcess(then);
    expect(await ended).toBe(code);
    await until(() => !alive(pid));
  });

  it('with a handler of its own decides when', async () => {
    const { child, pid, url, ended } = await inProcess(`
      process.on('SIGTERM', async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await server.stop();
        process.exit(0);
      });`);
    child.kill('SIGTERM');
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await ended).toBe('0');
    expect(alive(pid)).toBe(false);
  });

  it('is the only one: a second instance on the folder is told so', async () => {
    const first = await start();
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`${dataDir} is in use by another running instance.`);
    expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('stays the owner when its connection is cut', async () => {
    const first = await start();
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'countersign supervisor'";
    expect(await query(first.url, cut)).toHaveLength(1);
    await until(async () => (await query(first.url, "select from pg_locks where locktype = 'advisory' and granted")).length === 1);
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow('is in use by another running instance');
    await first.stop();
    await first.exited;
  });

  it('is one of several that start on an empty folder at once', async () => {
    await rm(dataDir, { recursive: true });
    const results = await Promise.allSettled([1, 2, 3].map(() => startEmbeddedPostgres({ dataDir })));
    const winners = results.filter((r) => r.status === 'fulfilled');
    started.push(...winners.map((r) => (r as PromiseFulfilledResult<EmbeddedPostgres>).value));
    expect(winners).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason.message).toContain('is in use by another running instance');
    expect(await query(started[0]?.url as string, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a data folder', () => {
  it.each([
    [
      'of a newer PostgreSQL',
      async () => writeFile(join(dataDir, 'cluster', 'PG_VERSION'), '99\n'),
      /was written by PostgreSQL 99, newer than the \d+ this program brings/,
    ],
    [
      'of an older PostgreSQL',
      async () => writeFile(join(dataDir, 'cluster', 'PG_VERSION'), '14\n'),
      /was written by PostgreSQL 14; this program brings \d+/,
    ],
    ['without its version', async () => rm(join(dataDir, 'cluster', 'PG_VERSION')), /is not a whole PostgreSQL data folder/],
    [
      'with a damaged control file',
      async () => truncate(join(dataDir, 'cluster', 'global', 'pg_control'), 100),
      /could not be started.*the data may be damaged.*pg_control/s,
    ],
    ['without its password', async () => rm(join(dataDir, 'password')), /password is missing or empty/],
    ['with another password', async () => writeFile(join(dataDir, 'password'), 'guess'), /password in .* does not open the data/],
  ])('%s is refused with one sentence', async (_, damage, sentence) => {
    await useInitialised();
    await damage();
    await expect(start()).rejects.toMatchObject({ name: 'EmbeddedPostgresError', message: expect.stringMatching(sentence) });
  });

  it('is left as it was found on a platform without binaries', async () => {
    await expect(startEmbeddedPostgres({ dataDir, platform: 'plan9-mips' })).rejects.toThrow(
      /no embedded PostgreSQL for plan9-mips.*DATABASE_URL/s,
    );
    await expect(readdir(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  (asRoot ? it : it.skip)('under a folder closed to others works for root all the same', async () => {
    const closed = join(folder, 'home');
    await mkdir(closed, { mode: 0o700 });
    dataDir = join(closed, 'postgres');
    const first = await start();
    await query(first.url, "create table kept (text text); insert into kept values ('closed')");
    await first.stop();
    const { child, pid, ended } = await inProcess('');
    child.kill('SIGKILL');
    await ended;
    const second = await start();
    expect(second).toMatchObject({ adopted: true, pid });
    expect(await query(second.url, 'select text from kept')).toEqual([{ text: 'closed' }]);
    // Nothing of root's is opened to others for it.
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, 'password'))).uid).toBe(0);
  });

  (asRoot ? it : it.skip)(
    'and binaries under a folder closed to others: the binaries are copied where the server’s user reaches them',
    async () => {
      const { findBinaries, reachableBinaries, reachable } = await import('./embedded-binaries.js');
      const native = (await findBinaries(`${process.platform}-${process.arch}`)) as string;
      const closed = join(folder, 'clone');
      await mkdir(closed, { mode: 0o700 });
      await spawnToEnd('cp', ['-a', native, join(closed, 'native')]);
      const user = { uid: 65534, gid: 65534 };
      expect(await reachable(join(closed, 'native'), user)).toBe(false);
      const [copy, again] = await Promise.all([1, 2].map(() => reachableBinaries(join(closed, 'native'), user, folder)));
      expect(copy).toBe(again);
      expect(copy).toMatch(join(folder, 'postgres-'));
      expect(await reachable(copy as string, user)).toBe(true);
      // A copy that lost a file is made anew.
      await rm(join(copy as string, 'share', 'postgresql', 'postgres.bki'));
      expect(await reachableBinaries(join(closed, 'native'), user, folder)).toBe(copy);
      expect((await stat(join(copy as string, 'share', 'postgresql', 'postgres.bki'))).size).toBeGreaterThan(0);
      // Where even the data folder is closed, the temporary folder it is; one that somebody else has filled is not run from.
      const elsewhere = await reachableBinaries(join(closed, 'native'), user, closed);
      expect(elsewhere.startsWith(tmpdir())).toBe(true);
      await chown(elsewhere, 65534, 65534);
      await expect(reachableBinaries(join(closed, 'native'), user, closed)).rejects.toThrow('nothing is run from it');
      await rm(elsewhere, { recursive: true });
      const version = spawn(join(copy as string, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/' });
      expect(await new Promise((resolve) => version.once('close', resolve))).toBe(0);
    },
  );
});
