// One PostgreSQL for a run of jest: started here, reached by every worker through the environment, stopped by postgres-teardown.mjs.
// Durability is switched off: what it would cost is not what these tests look at. Those that do start a server of their own.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './source.mjs';

const PREFIX = 'countersign-jest-';

// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default async function setup() {
  if (process.env.DATABASE_URL) {
    process.env.COUNTERSIGN_TEST_POSTGRES = process.env.DATABASE_URL;
    return;
  }
  const { startEmbeddedPostgres } = await import('../../database/src/embedded/embedded.ts');
  await removeAbandoned();
  const dataDir = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400', shared_buffers: '128MB' },
  });
  process.env.COUNTERSIGN_TEST_POSTGRES = server.url;
  globalThis.countersignTestPostgres = { server, dataDir };
}

/** What runs left that were killed: their servers are stopped, their folders removed. */
async function removeAbandoned() {
  const { alive, isServerOf, readPostmasterPid } = await import('../../database/src/embedded/embedded-process.ts');
  for (const name of await readdir(tmpdir())) {
    const run = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (!run || alive(run)) continue;
    const dataDir = join(tmpdir(), name);
    const server = await readPostmasterPid(join(dataDir, 'cluster'));
    if (server && alive(server.pid) && (await isServerOf(server.pid, join(dataDir, 'cluster')).catch(() => false))) {
      process.kill(server.pid, 'SIGQUIT');
      while (alive(server.pid)) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}
