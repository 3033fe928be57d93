import { rm } from 'node:fs/promises';

export default async function teardown() {
  const running = globalThis.countersignTestPostgres;
  if (!running) return;
  await running.server.stop();
  await rm(running.dataDir, { recursive: true, force: true });
}
