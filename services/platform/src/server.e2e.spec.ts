import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  addressOf,
  isRunning,
  postgresPid,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnProgram,
  spawnServer,
  stopLeftovers,
  until,
} from './fixture/server-process.js';

let scratch: ReturnType<typeof scratchFolder>;
let dataDir: string;
const started: SpawnedProgram[] = [];

beforeEach(() => {
  scratch = scratchFolder();
  dataDir = join(scratch.path, 'data');
});
afterEach(async () => {
  await stopLeftovers(dataDir, started.splice(0));
  scratch.remove();
});

function start(env?: Record<string, string>): SpawnedProgram {
  const server = spawnServer(dataDir, env);
  started.push(server);
  return server;
}

/** A cluster that initdb still makes. */
const isDraft = (name: string): boolean => name.startsWith('new-');

async function ready(server: SpawnedProgram): Promise<string> {
  const url = await addressOf(server);
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  return url;
}

/** How a server ends that cannot go on: one sentence for a person (beside the lines of its log), exit code 1. */
async function refusal(server: SpawnedProgram): Promise<string> {
  const { code, stderr } = await server.exited;
  const told = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(told).toHaveLength(1);
  expect(code).toBe(1);
  return told[0] ?? '';
}

const databaseUrl = () => (JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { database_url: string }).database_url;

describe('a server', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends on %s with exit code 0 and leaves no process and no lock', async (signal) => {
    await prepareData(dataDir);
    const server = start();
    await ready(server);
    const postgres = postgresPid(dataDir);
    expect(await server.stop(signal)).toMatchObject({ code: 0, stderr: '' });
    expect(isRunning(postgres)).toBe(false);
    expect(readdirSync(dataDir)).not.toContain('lock.json');
  });

  it('ends as well when the signal comes while it still starts, after the step it is at, and the next one goes on', async () => {
    // As in a terminal: a Ctrl-C goes to every process of the group.
    const server = spawnProgram('node', [join('services/platform/dist/main.js')], {
      env: { DATA_DIR: dataDir, PORT: '0' },
      detached: true,
    });
    started.push(server);
    await until('initdb to run', () => existsSync(join(dataDir, 'postgres')) && readdirSync(join(dataDir, 'postgres')).some(isDraft));
    process.kill(-(server.child.pid as number), 'SIGINT');
    const { code, stdout, stderr } = await server.exited;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^First start: [^\n]+\n {2}PostgreSQL … [^\n]+\nStopped\.\n$/);
    const next = start();
    await ready(next);
    expect(next.stdout).toMatch(/^First start: /);
  });

  it('that was killed comes up again with its data, whether PostgreSQL outlived it or not', async () => {
    await prepareData(dataDir);
    const first = start();
    await ready(first);
    const postgres = postgresPid(dataDir);
    await first.stop('SIGKILL');
    expect(isRunning(postgres)).toBe(true);
    const second = start();
    await ready(second);
    expect(postgresPid(dataDir)).toBe(postgres);
    await second.stop('SIGKILL');
    process.kill(postgres, 'SIGKILL');
    const third = start();
    await ready(third);
    expect((await third.stop()).code).toBe(0);
  });

  it('whose PostgreSQL was killed says so in one sentence and ends; the next start works', async () => {
    await prepareData(dataDir);
    const server = start();
    await ready(server);
    process.kill(postgresPid(dataDir), 'SIGKILL');
    expect(await refusal(server)).toMatch(/^PostgreSQL stopped unexpectedly/);
    await ready(start());
  });

  it('killed at its first start before it made a database makes one at the next, with the keys it had', async () => {
    const server = start();
    await server.printed(/First start/);
    await server.stop('SIGKILL');
    for (const name of readdirSync(dataDir)) if (!/^(layout|secrets)\.json$/.test(name)) rmSync(join(dataDir, name), { recursive: true });
    writeFileSync(join(dataDir, 'layout.json'), '{"layout":1}');
    const secrets = readFileSync(join(dataDir, 'secrets.json'), 'utf8');
    await ready(start());
    expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toBe(secrets);
  });

  it('killed at any moment of its first start comes up at the next', async () => {
    for (const delay of [100, 400, 700, 1_000, 1_300]) {
      const server = start();
      const killed = setTimeout(() => server.child.kill('SIGKILL'), delay);
      await server.exited;
      clearTimeout(killed);
    }
    const url = await ready(start());
    expect(JSON.parse((await runCli(dataDir, 'verify', '--json')).stdout)).toMatchObject({ valid: true, first_bad: null });
    const { api_key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as { api_key: string };
    expect((await fetch(`${url}/api/v1/templates`, { headers: { authorization: `Bearer ${api_key}` } })).status).toBe(200);
  });
});

describe('a server that cannot start', () => {
  it('because its port is taken says which, makes no folder and leaves no PostgreSQL behind', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    expect(await refusal(start({ PORT: String(port) }))).toBe(
      `Port ${port} on 127.0.0.1 is already in use. Stop the other program, or set PORT to a free port.`,
    );
    expect(existsSync(dataDir)).toBe(false);
    await prepareData(dataDir);
    expect(await refusal(start({ PORT: String(port) }))).toContain('is already in use');
    other.close();
    expect(existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'))).toBe(false);
  });

  it('because the data directory is in use says by whom, and does that one no harm', async () => {
    await prepareData(dataDir);
    const first = start();
    const url = await ready(first);
    expect(await refusal(start())).toContain(`${dataDir} is in use by \`npm start\` (process ${first.child.pid}), running at ${url}`);
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });

  it('because another one was faster: of several started at once exactly one comes up', async () => {
    const servers = [1, 2, 3, 4].map(() => start());
    const outcomes = await Promise.all(
      servers.map((server) => Promise.race([addressOf(server).catch(() => 'refused'), server.exited.then(() => 'refused')])),
    );
    expect(outcomes.filter((outcome) => outcome !== 'refused')).toHaveLength(1);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome === 'refused') expect(await refusal(servers[index] as SpawnedProgram)).toContain('is in use by');
    }
  });

  it.each([
    ['a damaged layout', () => writeFileSync(join(dataDir, 'layout.json'), 'x'), /layout.json is damaged/],
    ['a newer layout', () => writeFileSync(join(dataDir, 'layout.json'), '{"layout":2}'), /was written by a newer version of Countersign/],
    ['lost keys', () => rmSync(join(dataDir, 'secrets.json')), /secrets.json is missing/],
    ['a damaged database', () => rmSync(join(dataDir, 'postgres/cluster/PG_VERSION')), /PG_VERSION/],
    ['a broken database', () => rmSync(join(dataDir, 'postgres/cluster/global/pg_control')), /PostgreSQL could not be started|damaged/],
    [
      'a lost database',
      () => rmSync(join(dataDir, 'postgres/cluster'), { recursive: true }),
      /has been in use, but its database \S+cluster is missing\. Mount or restore it/,
    ],
    [
      'a database that is not mounted, without credentials',
      () => {
        rmSync(join(dataDir, 'postgres'), { recursive: true });
        mkdirSync(join(dataDir, 'postgres'));
        rmSync(join(dataDir, 'credentials.json'));
      },
      /has been in use, but its database \S+cluster is missing/,
    ],
    ['a lost password', () => rmSync(join(dataDir, 'postgres/password')), /password is missing/],
  ])('because of %s says so', async (_, damage, sentence) => {
    await prepareData(dataDir);
    damage();
    const { code, stderr } = await start().exited;
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(1);
    expect(readdirSync(dataDir)).not.toContain('lock.json');
  });

  it('because the schema is newer than it knows says so', async () => {
    await prepareData(dataDir);
    const server = start();
    await ready(server);
    const client = new pg.Client({ connectionString: databaseUrl() });
    await client.connect();
    await client.query("insert into migrations.applied values ('event_store', 9999, '9999_future.sql', '', true)");
    await client.end();
    await server.stop();
    expect(await refusal(start())).toMatch(/The database is newer than this version/);
  });

  it('because the configuration is wrong lists every mistake', async () => {
    const { code, stderr } = await start({ PORT: '70000', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://x' }).exited;
    expect(stderr).toMatch(/PORT must be at most 65535/);
    expect(stderr).toMatch(/LOG_LEVEL must be one of/);
    expect(stderr).toMatch(/DATABASE_URL must be an absolute URL/);
    expect(code).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
  });

  it('because DATABASE_URL leads nowhere says so without the password', async () => {
    const sentence = await refusal(start({ DATABASE_URL: 'postgresql://me:hunter2@127.0.0.1:1/x' }));
    expect(sentence).toMatch(/Cannot use the PostgreSQL at DATABASE_URL \(127.0.0.1:1\): .*ECONNREFUSED/);
    expect(sentence).not.toContain('hunter2');
  });

  it('because HOST is no address of this machine says so', async () => {
    expect(await refusal(start({ HOST: '192.0.2.1', PORT: '3999' }))).toMatch(/HOST 192.0.2.1 is not a local address/);
  });
});

const asRoot = process.getuid?.() === 0;
(asRoot ? describe : describe.skip)(`started by root${asRoot ? '' : ' (not run: these tests are not)'}`, () => {
  it('for a user who may not write the data directory says so', async () => {
    chmodSync(scratch.path, 0o755);
    mkdirSync(dataDir, { mode: 0o755 });
    const server = spawnProgram('node', [join('services/platform/dist/main.js')], {
      env: { DATA_DIR: dataDir, PORT: '0' },
      uid: 65534,
      gid: 65534,
    });
    started.push(server);
    expect(await refusal(server)).toContain(`${dataDir} is not writable by this user`);
  });

  it('works in a folder that only root may enter', async () => {
    chmodSync(scratch.path, 0o700);
    await ready(start());
    expect(statSync(scratch.path).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir)).toContain('credentials.json');
  });
});

describe('npm start', () => {
  it('takes everything along when npm is told to end', async () => {
    await prepareData(dataDir);
    const npm = spawnProgram('npm', ['start'], { env: { DATA_DIR: dataDir, PORT: '0' } });
    started.push(npm);
    await ready(npm);
    const postgres = postgresPid(dataDir);
    await npm.stop();
    expect(isRunning(postgres)).toBe(false);
    expect(readdirSync(dataDir)).not.toContain('lock.json');
  });

  it('killed leaves a server that notices, ends, and lets the next one have the data', async () => {
    await prepareData(dataDir);
    const npm = spawnProgram('npm', ['start'], { env: { DATA_DIR: dataDir, PORT: '0' } });
    started.push(npm);
    await ready(npm);
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { pid: number };
    npm.child.kill('SIGKILL');
    const next = start();
    await ready(next);
    expect(isRunning(pid)).toBe(false);
  });
});

describe('the operators’ CLI', () => {
  it('works beside a running server, and on the data of a stopped one, which it locks and leaves stopped', async () => {
    await prepareData(dataDir);
    const server = start();
    const url = await ready(server);
    const beside = await runCli(dataDir, 'status', '--json');
    expect(JSON.parse(beside.stdout)).toMatchObject({ server: { running: true, pid: server.child.pid, url } });
    await server.stop();
    const stopped = await runCli(dataDir, 'status', '--json');
    expect(JSON.parse(stopped.stdout)).toMatchObject({ server: { running: false } });
    expect(stopped.code).toBe(0);
    expect(readdirSync(dataDir)).not.toContain('lock.json');
    expect(existsSync(join(dataDir, 'postgres/cluster/postmaster.pid'))).toBe(false);
  });
});
