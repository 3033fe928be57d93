// A folder for what the tests of a run share that start servers: services/platform/src/fixture puts a data directory there when one asks for it.
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './source.mjs';

const PREFIX = 'countersign-data-';

// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default async function setup() {
  const temporary = await realpath(tmpdir());
  await removeAbandoned(temporary);
  const folder = await mkdtemp(join(temporary, `${PREFIX}${process.pid}-`));
  process.env.COUNTERSIGN_TEST_DATA = folder;
  globalThis.countersignTestData = { remove: () => rm(folder, { recursive: true, force: true }) };
}

/** What runs left that were killed; a server that was at work there ends by itself. */
async function removeAbandoned(temporary) {
  const { alive } = await import('../../database/src/embedded/embedded-process.ts');
  for (const name of await readdir(temporary)) {
    const run = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (run && !alive(run)) await rm(join(temporary, name), { recursive: true, force: true });
  }
}
