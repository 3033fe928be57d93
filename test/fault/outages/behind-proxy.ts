/** `npm start` on a PostgreSQL that is somewhere else: everything it says to it goes through a proxy; the test itself asks it directly. */
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { prepareData, scratchFolder } from '@countersign/platform/fixture';
import { Server } from '../../e2e/server.js';
import { asOwner, startAllInOne, type Topology } from '../../e2e/topology.js';
import { FaultProxy } from '../proxy.js';

export interface BehindProxy {
  server: Server;
  proxy: FaultProxy;
  /** The one that runs now. */
  database(): EmbeddedPostgres;
  /** Starts it again, at another port, as its operator would. */
  restartDatabase(): Promise<void>;
  /** Asks PostgreSQL as its owner, past the proxy. */
  query: Topology['query'];
  stop(): Promise<void>;
}

/**
 * @param settings of PostgreSQL.
 * @param disk makes the file system PostgreSQL's folder is on, and gives back what takes it away.
 */
export async function startBehindProxy(settings: Record<string, string> = {}, disk?: (folder: string) => () => void): Promise<BehindProxy> {
  const folder = scratchFolder();
  const dataDir = join(folder.path, 'data');
  await prepareData(dataDir);
  const place = join(dataDir, 'postgres');
  const removeDisk = disk?.(place);
  const start = () => startEmbeddedPostgres({ dataDir: place, settings });
  let database = await start();
  const portOf = ({ url }: EmbeddedPostgres) => Number(new URL(url).port);
  const proxy = await FaultProxy.to({ port: portOf(database) });
  const topology = await startAllInOne({ DATABASE_URL: proxy.through(database.url) }, dataDir);
  const past = asOwner(() => database.url);
  const server = await Server.start({ ...topology, ...past });
  return {
    server,
    proxy,
    query: past.query,
    database: () => database,
    async restartDatabase() {
      await database.stop();
      database = await start();
      proxy.leadTo(portOf(database));
    },
    async stop() {
      proxy.heal();
      await server.stop();
      await proxy.close();
      await database.stop();
      removeDisk?.();
      folder.remove();
    },
  };
}
