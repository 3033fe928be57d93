import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@countersign/contracts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Ended, SpawnedProgram, scratchFolder, until } from '../fixture/server-process.js';

const SERVICES: ServiceName[] = ['gateway', 'intake', 'decisions', 'directory', 'monitoring', 'webhooks', 'audit'];
const FOLDER = fileURLToPath(new URL('../../../', import.meta.url));
const scratch = scratchFolder();
const started: SpawnedProgram[] = [];
let database: EmbeddedPostgres;
let owner: pg.Client;
beforeAll(async () => {
  database = await startEmbeddedPostgres({ dataDir: join(scratch.path, 'postgres') });
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
});
afterEach(async () => {
  for (const program of started.splice(0)) await program.stop('SIGKILL');
});
afterAll(async () => {
  await owner.end();
  await database.stop();
  scratch.remove();
});

const secret = () => randomBytes(32).toString('hex');
function run(...program: string[]): SpawnedProgram {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url, PORT: '0', IDENTITY_KEY: secret(), SECRETS_KEY: secret() };
  const spawned = new SpawnedProgram(spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  started.push(spawned);
  return spawned;
}
const start = (service: ServiceName) => run(join(FOLDER, service, 'dist/main.js'));
const migrate = (): Promise<Ended> => run(join(FOLDER, 'platform/bin/countersign.js'), 'migrate', '--json').exited;

describe('a service as a process of its own', () => {
  it('waits for a database that is empty, and starts when `countersign migrate` has run', async () => {
    const service = start('intake');
    await until('it to say that it waits', () => /not migrated yet: waiting/.test(service.stderr));
    const { code, stdout } = await migrate();
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { version: expect.any(String), schemas: expect.arrayContaining([{ schema: 'event_store', migrations: expect.any(Number) }]) },
    ]);
    await until('it to be ready', () => /"msg":"ready"/.test(service.stderr));
    expect((await service.stop()).code).toBe(0);
  });

  it.each(SERVICES)('%s refuses a schema that is older than it, in one sentence', async (service) => {
    const { rows } = await owner.query<{ schema: string }>(
      `delete from migrations.applied where (schema, id) in
         (select schema, max(id) from migrations.applied where schema = any($1) group by schema) returning schema`,
      [[service === 'monitoring' ? 'event_bus' : service]],
    );
    const [{ schema }] = rows as [{ schema: string }];
    const { code, stderr } = await start(service).exited;
    const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect([code, said]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^The database is older than this version \\(schema ${schema} lacks 0.*sql\\): run .*first\\.$`))],
    ]);
    await owner.query('delete from migrations.applied where schema = $1', [schema]);
    await owner.query(`drop schema ${schema} cascade`);
    expect((await migrate()).code).toBe(0);
  });
});
