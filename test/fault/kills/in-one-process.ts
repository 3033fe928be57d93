/** `npm start` and its PostgreSQL. Nobody starts it again but whoever started it: here, the stage. */
import { join } from 'node:path';
import { isRunning, scratchFolder, signalPostgres, until } from '@countersign/platform/fixture';
import { Server } from '../../e2e/server.js';
import { startAllInOne } from '../../e2e/topology.js';
import { Traffic } from '../traffic/traffic.js';
import type { Stage } from './stage.js';

export async function inOneProcess(): Promise<Stage> {
  const folder = scratchFolder();
  const dataDir = join(folder.path, 'data');
  const server = await Server.start(await startAllInOne({}, dataDir));
  await Traffic.prepare(server);
  const { topology } = server;
  const again = () => topology.killAndRestart();
  return {
    name: 'in one process',
    server,
    // Whoever starts it again is one, and starts it once.
    severalAtOnce: false,
    victims: [
      { weight: 4, kill: async () => (await again()).map(() => 'all in one') },
      {
        // It cannot go on without its database, and says so and ends.
        weight: 1,
        async kill() {
          const [pid] = topology.inspect().pids;
          signalPostgres(dataDir, 'SIGKILL');
          await until('the server to end', () => !isRunning(pid as number));
          await again();
          return ['PostgreSQL'];
        },
      },
      {
        weight: 3,
        async kill() {
          signalPostgres(dataDir, 'SIGKILL');
          await again();
          return ['PostgreSQL', 'all in one'];
        },
      },
    ],
    async whole() {},
    async stop() {
      await server.stop();
      folder.remove();
    },
  };
}
