import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { catalogDump, hasMigrations, MigrationError, migrate } from './index.js';

let db: TestDatabase;
const folders: string[] = [];

async function directoryOf(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-migrations-'));
  folders.push(directory);
  for (const [name, sql] of Object.entries(files)) await writeFile(join(directory, name), sql);
  return directory;
}

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
  await db.close();
});

const first = { '0001_made.sql': 'create schema one; create table one.things (id integer primary key);' };
const second = { ...first, '0002_more.sql': 'alter table one.things add column note text;' };
const third = { ...second, '0003_gone.sql': '-- breaking\nalter table one.things drop column note;' };

describe('migrations', () => {
  it('are applied once, in order, and recorded', async () => {
    await migrate(db.ownerUrl, [{ name: 'one', directory: await directoryOf(first) }]);
    await migrate(db.ownerUrl, [{ name: 'one', directory: await directoryOf(second) }]);
    await migrate(db.ownerUrl, [{ name: 'one', directory: await directoryOf(second) }]);
    const { rows } = await db.ownerPool.query("select id, file, breaking from migrations.applied where schema = 'one' order by id");
    expect(rows).toEqual([
      { id: 1, file: '0001_made.sql', breaking: false },
      { id: 2, file: '0002_more.sql', breaking: false },
    ]);
    await db.ownerPool.query("insert into one.things values (1, 'x')");
  });

  it('that fail are undone whole and say which', async () => {
    const directory = await directoryOf({ ...second, '0003_bad.sql': 'create table one.half (id integer); select 1 / 0;' });
    await expect(migrate(db.ownerUrl, [{ name: 'one', directory }])).rejects.toThrow(
      /one\/0003_bad\.sql failed and was rolled back: division by zero/,
    );
    expect(await catalogDump(db.ownerPool, ['one'])).not.toContain('half');
    const { rows } = await db.ownerPool.query("select max(id) as id from migrations.applied where schema = 'one'");
    expect(rows[0].id).toBe(2);
  });

  it('that were applied are frozen', async () => {
    const directory = await directoryOf({ ...first, '0002_more.sql': 'alter table one.things add column remark text;' });
    await expect(migrate(db.ownerUrl, [{ name: 'one', directory }])).rejects.toThrow(/Applied migrations must not change/);
  });

  it('may be checked out with other line ends', async () => {
    const files = { '0001_lines.sql': 'create schema lines;\ncreate table lines.a (id integer);\n' };
    await migrate(db.ownerUrl, [{ name: 'lines', directory: await directoryOf(files) }]);
    const windows = await directoryOf({ '0001_lines.sql': files['0001_lines.sql'].replaceAll('\n', '\r\n') });
    await expect(migrate(db.ownerUrl, [{ name: 'lines', directory: windows }])).resolves.toBeUndefined();
  });

  it.each([
    ['a gap', { '0001_a.sql': 'select 1', '0003_c.sql': 'select 1' }],
    ['a number twice', { '0001_a.sql': 'select 1', '0001_b.sql': 'select 1' }],
    ['another name', { 'init.sql': 'select 1' }],
  ])('with %s are refused before anything runs', async (_, files) => {
    await expect(migrate(db.ownerUrl, [{ name: 'two', directory: await directoryOf(files as never) }])).rejects.toThrow('out of sequence');
  });

  it('newer than the program: compatible ones are worked with, breaking ones refuse the start', async () => {
    const old = await directoryOf(first);
    const warnings: string[] = [];
    await migrate(db.ownerUrl, [{ name: 'one', directory: old }], { warn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('1 migration(s) newer than this version (latest 0002_more.sql)')]);

    await migrate(db.ownerUrl, [{ name: 'one', directory: await directoryOf(third) }]);
    const refusal = migrate(db.ownerUrl, [{ name: 'one', directory: old }], { warn: (message) => warnings.push(message) });
    await expect(refusal).rejects.toBeInstanceOf(MigrationError);
    await expect(refusal).rejects.toThrow(
      'The database is newer than this version: schema one has the incompatible migration 0003_gone.sql.',
    );
    expect(warnings).toHaveLength(1);
  });

  it('are applied once by twenty processes that start together', async () => {
    const directory = await directoryOf({
      '0001_slow.sql':
        'create schema twenty; create table twenty.runs (id integer primary key); select pg_sleep(0.2); insert into twenty.runs values (1);',
      '0002_next.sql': 'insert into twenty.runs values (2); create table twenty.more (id integer);',
    });
    const program = join(directory, 'start.mjs');
    const source = new URL('../../testing/jest/source.mjs', import.meta.url).href;
    const migrateSource = new URL('./migrate.ts', import.meta.url).href;
    await writeFile(
      program,
      `import ${JSON.stringify(source)};
       const { migrate } = await import(${JSON.stringify(migrateSource)});
       process.send('ready');
       process.once('message', async () => {
         try {
           await migrate(${JSON.stringify(db.ownerUrl)}, [{ name: 'twenty', directory: ${JSON.stringify(directory)} }]);
           process.exit(0);
         } catch (error) {
           console.error(error);
           process.exit(1);
         }
       });`,
    );
    const children = Array.from({ length: 20 }, () => fork(program, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
    const exits = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    // All have loaded the program before any of them begins.
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
    for (const child of children) child.send('go');
    expect(await Promise.all(exits)).toEqual(Array(20).fill(0));
    const { rows } = await db.ownerPool.query('select id from twenty.runs order by id');
    expect(rows.map((row) => row.id)).toEqual([1, 2]);
  });

  it('say what an administrator has to do when the login may not create the role', async () => {
    const database = new URL(db.ownerUrl).pathname.slice(1);
    await db.ownerPool.query(`create role cs_limited login password 'pw'; grant create on database ${database} to cs_limited`);
    const url = new URL(db.ownerUrl);
    url.username = 'cs_limited';
    url.password = 'pw';
    await expect(migrate(url.href, [])).rejects.toThrow(/create role countersign_app nologin; grant countersign_app to/);
    await db.ownerPool.query('drop owned by cs_limited; drop role cs_limited');
  });

  describe('M5 seen by a process that may not migrate', () => {
    const applied = async (...names: string[]) => {
      const directory = await directoryOf(Object.fromEntries(names.map((name) => [name, 'select 1;'])));
      await migrate(db.ownerUrl, [{ name: 'seen', directory }]);
    };
    const known = async (files: Record<string, string>) => [{ name: 'seen', directory: await directoryOf(files) }];
    const both = { '0001_a.sql': 'select 1;', '0002_b.sql': 'select 1;' };

    it('are enough when all it knows are there', async () => {
      await applied('0001_a.sql');
      expect(await hasMigrations(db.pool, await known({ '0001_a.sql': 'select 1;' }))).toBe(true);
    });

    it('refuse it when one is missing, and let it wait while somebody migrates', async () => {
      const sentence =
        /^The database is older than this version \(schema seen lacks 0002_b\.sql\): run `countersign migrate` as its owner first\.$/;
      await expect(hasMigrations(db.pool, await known(both))).rejects.toThrow(sentence);
      const slow = await directoryOf({ '0001_slow.sql': 'select pg_sleep(3600);' });
      const migrating = migrate(db.ownerUrl, [{ name: 'slow', directory: slow }]).catch((error: Error) => error.message);
      const sets = await known(both);
      const state = () => hasMigrations(db.pool, sets).catch((error: Error) => error.message);
      for (const deadline = Date.now() + 20_000; (await state()) !== false; ) expect(Date.now()).toBeLessThan(deadline);
      await db.ownerPool.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'countersign migrate' and datname = current_database()",
      );
      expect(await migrating).toEqual(expect.any(String));
      await expect(hasMigrations(db.pool, sets)).rejects.toThrow(sentence);
    });

    it('refuse it when they differ, or are newer and breaking', async () => {
      await applied('0001_a.sql', '0002_b.sql');
      await expect(hasMigrations(db.pool, await known({ ...both, '0002_b.sql': 'select 2;' }))).rejects.toThrow(/must not change/);
      await db.ownerPool.query("update migrations.applied set breaking = true where schema = 'seen' and id = 2");
      await expect(hasMigrations(db.pool, await known({ '0001_a.sql': 'select 1;' }))).rejects.toThrow(/newer than this version/);
    });

    it('refuse it when it may not look at the list: an older version applied them', async () => {
      await db.ownerPool.query('revoke usage on schema migrations from countersign_app');
      await expect(hasMigrations(db.pool, await known(both))).rejects.toThrow(MigrationError);
      await applied('0001_a.sql', '0002_b.sql');
      expect(await hasMigrations(db.pool, await known(both))).toBe(true);
    });
  });
});
