/** One server, one owner (embedded.ts E1–E5). */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { asRoot, Folder, InitialisedFolder, query } from './embedded.fixture.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';
import { prepare } from './embedded-cluster.js';
import { alive } from './embedded-process.js';
import { findServer } from './embedded-server.js';

const initialised = new InitialisedFolder();
let folder: Folder;
beforeAll(() => initialised.make());
afterAll(() => initialised.remove());
beforeEach(async () => {
  folder = await Folder.make();
});
afterEach(() => folder.remove());

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('The condition did not come true.');
}

describe('an embedded PostgreSQL', () => {
  it('listens on loopback only, asks for a password, makes no socket and syncs its writes', async () => {
    // Left by one that was killed while it made its cluster.
    await mkdir(join(folder.dataDir, 'new-old'), { recursive: true });
    await utimes(join(folder.dataDir, 'new-old'), new Date(0), new Date(0));
    const server = await folder.start();
    expect((await readdir(folder.dataDir)).sort()).toEqual(['cluster', 'password', 'server.log']);
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
    expect((await stat(join(folder.dataDir, 'password'))).mode & 0o777).toBe(0o600);
    expect(server.adopted).toBe(false);
  });

  it('keeps its data from one start to the next', async () => {
    await initialised.copyTo(folder.dataDir);
    const first = await folder.start();
    await query(first.url, "create table kept (text text); insert into kept values ('still here')");
    await first.stop();
    expect(alive(first.pid)).toBe(false);
    await first.exited;
    const second = await folder.start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select text from kept')).toEqual([{ text: 'still here' }]);
    expect((await readdir(folder.dataDir)).sort()).toEqual(['cluster', 'password', 'server.log']);
  });

  it('says when it is gone, whoever ended it', async () => {
    await initialised.copyTo(folder.dataDir);
    const server = await folder.start();
    process.kill(server.pid, 'SIGKILL');
    await server.exited;
    expect(alive(server.pid)).toBe(false);
  });

  it('comes up again after it was killed with all its processes', async () => {
    await initialised.copyTo(folder.dataDir);
    const first = await folder.start();
    await query(first.url, 'create table kept (n integer); insert into kept select generate_series(1, 1000)');
    const { rows } = { rows: await query(first.url, 'select pid from pg_stat_activity') };
    for (const pid of [first.pid, ...rows.map((row) => Number(row.pid))]) {
      if (alive(pid)) process.kill(pid, 'SIGKILL');
    }
    const second = await folder.start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select count(*)::integer as n from kept')).toEqual([{ n: 1000 }]);
  });

  it('is not stopped by a postmaster.pid that names some other process', async () => {
    await initialised.copyTo(folder.dataDir);
    const first = await folder.start();
    await first.stop();
    // A process of the server's own user: PostgreSQL itself would take it for a running server.
    const other = spawn('sleep', ['600'], asRoot ? { uid: 65534, gid: 65534 } : {});
    const file = join(folder.dataDir, 'cluster', 'postmaster.pid');
    await writeFile(file, `${other.pid}\n${join(folder.dataDir, 'cluster')}\n0\n5432\n\n127.0.0.1\n0 0\nready\n`);
    if (asRoot) await chown(file, 65534, 65534);
    const second = await folder.start();
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    other.kill();
  });
});

describe('a postmaster.pid', () => {
  it('that a crash left before its number was written is no obstacle', async () => {
    await initialised.copyTo(folder.dataDir);
    await writeFile(join(folder.dataDir, 'cluster', 'postmaster.pid'), '');
    expect((await folder.start()).adopted).toBe(false);
  });

  it('whose number is written a moment later is waited for', async () => {
    await initialised.copyTo(folder.dataDir);
    const first = await folder.start();
    const file = join(folder.dataDir, 'cluster', 'postmaster.pid');
    const written = await readFile(file);
    await truncate(file);
    const place = await prepare(folder.dataDir, `${process.platform}-${process.arch}`);
    const found = findServer(place, await readFile(place.password, 'utf8'));
    await writeFile(file, written);
    expect(await found).toMatchObject({ pid: first.pid, adopted: true });
    expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('the process that started it', () => {
  beforeEach(() => initialised.copyTo(folder.dataDir));

  it('killed leaves it running, and the next start adopts it', async () => {
    const { child, pid, url, ended } = await folder.inProcess('');
    await query(url, "create table kept (text text); insert into kept values ('adopted')");
    child.kill('SIGKILL');
    expect(await ended).toBe('SIGKILL');
    expect(alive(pid)).toBe(true);
    const server = await folder.start();
    expect(server).toMatchObject({ adopted: true, pid, url });
    expect(await query(server.url, 'select text from kept')).toEqual([{ text: 'adopted' }]);
    await server.stop();
    expect(alive(pid)).toBe(false);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ended by %s takes it along', async (signal) => {
    const { child, pid, ended } = await folder.inProcess('');
    child.kill(signal);
    expect(await ended).toBe(signal);
    await until(() => !alive(pid));
  });

  it.each([
    ['process.exit(3)', 'process.exit(3)', '3'],
    [
      'an error nobody caught',
      "process.on('uncaughtException', () => process.exit(7)); setImmediate(() => { throw new Error('on purpose'); })",
      '7',
    ],
    ['having nothing more to do', 'clearInterval(keep)', '0'],
  ])('ended by %s takes it along', async (_, then, code) => {
    const { child, pid, ended } = await folder.inProcess(`process.on('SIGUSR2', () => { ${then}; });`);
    child.kill('SIGUSR2');
    expect(await ended).toBe(code);
    await until(() => !alive(pid));
  });

  it('with a handler of its own decides when', async () => {
    const [told, allowed] = ['told', 'allowed'].map((name) => join(folder.path, name)) as [string, string];
    const { child, pid, url, ended } = await folder.inProcess(`
      const { existsSync, writeFileSync } = await import('node:fs');
      process.on('SIGTERM', async () => {
        writeFileSync(${JSON.stringify(told)}, '');
        while (!existsSync(${JSON.stringify(allowed)})) await new Promise((resolve) => setTimeout(resolve, 10));
        await server.stop();
        process.exit(0);
      });`);
    child.kill('SIGTERM');
    await until(() => existsSync(told));
    expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await writeFile(allowed, '');
    expect(await ended).toBe('0');
    expect(alive(pid)).toBe(false);
  });

  it('is the only one: a second instance on the folder is told so', async () => {
    const first = await folder.start();
    await expect(startEmbeddedPostgres({ dataDir: folder.dataDir })).rejects.toThrow(
      `${folder.dataDir} is in use by another running instance.`,
    );
    expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('stays the owner when its connection is cut', async () => {
    const first = await folder.start();
    const cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'countersign supervisor'";
    expect(await query(first.url, cut)).toHaveLength(1);
    await until(async () => (await query(first.url, "select from pg_locks where locktype = 'advisory' and granted")).length === 1);
    await expect(startEmbeddedPostgres({ dataDir: folder.dataDir })).rejects.toThrow('is in use by another running instance');
    await first.stop();
    await first.exited;
  });

  it('is one of several that start on an empty folder at once', async () => {
    await rm(folder.dataDir, { recursive: true });
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => startEmbeddedPostgres({ dataDir: folder.dataDir })));
    const winners = results.filter((r) => r.status === 'fulfilled');
    folder.started.push(...winners.map((r) => (r as PromiseFulfilledResult<EmbeddedPostgres>).value));
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason.message).toContain('is in use by another running instance');
    expect(winners).toHaveLength(1);
    expect(await query(folder.started[0]?.url as string, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});
