import { rm } from 'node:fs/promises';

// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default async function teardown() {
  const running = globalThis.countersignTestPostgres;
  if (!running) return;
  await running.server.stop();
  await rm(running.dataDir, { recursive: true, force: true });
}
