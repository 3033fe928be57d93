// A folder for what the tests of a run share that start servers: services/platform/src/fixture puts a data directory there when one asks for it.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default async function setup() {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'countersign-data-'));
  process.env.COUNTERSIGN_TEST_DATA = folder;
  globalThis.countersignTestData = { remove: () => rm(folder, { recursive: true, force: true }) };
}
