// One PostgreSQL for a run of jest: started here, reached by every worker through the environment, stopped by postgres-teardown.mjs.
// Durability is switched off: what it would cost is not what these tests look at. Those that do start a server of their own.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './source.mjs';

const PREFIX = 'countersign-jest-';

export default async function setup() {
  if (process.env.DATABASE_URL) {
    process.env.COUNTERSIGN_TEST_POSTGRES = process.env.DATABASE_URL;
    return;
  }
  const { startEmbeddedPostgres } = await import('../../database/src/embedded.ts');
  await removeAbandoned(startEmbeddedPostgres);
  const dataDir = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '128MB' },
  });
  process.env.COUNTERSIGN_TEST_POSTGRES = server.url;
  globalThis.countersignTestPostgres = { server, dataDir };
}

/** Servers of runs that were killed: adopted, stopped and removed. */
async function removeAbandoned(startEmbeddedPostgres) {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (!pid || alive(pid)) continue;
    const dataDir = join(tmpdir(), name);
    const server = await startEmbeddedPostgres({ dataDir }).catch(() => null);
    await server?.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
