/** `npm start` on a PostgreSQL that is somewhere else: everything it says to it goes through a proxy; the test itself asks it directly. */
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@countersign/database';
import { prepareData, scratchFolder } from '@countersign/platform/fixture';
import pg from 'pg';
import { Server } from '../../e2e/server.js';
import { startAllInOne, type Topology } from '../../e2e/topology.js';
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
  const query = directly(() => database.url);
  const server = await Server.start({
    ...topology,
    query,
    advanceClock: async (seconds) => void (await query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [seconds])),
  });
  return {
    server,
    proxy,
    query,
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

function directly(url: () => string): Topology['query'] {
  return async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) => {
    const owner = new pg.Client({ connectionString: url(), application_name: 'test' });
    owner.on('error', () => {});
    await owner.connect();
    try {
      return (await owner.query<Row>(sql, values)).rows;
    } finally {
      await owner.end();
    }
  };
}
