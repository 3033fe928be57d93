import { migrate, startEmbeddedPostgres } from '@countersign/database';
import { defaultSets } from '@countersign/testing';
import pg from 'pg';

export interface Database {
  /** Of the owner. */
  url: string;
  query(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** The PostgreSQL that `npm start` runs, with its settings, and the event store's and the bus's schema in it. */
export async function startDatabase(folder: string): Promise<Database> {
  const server = await startEmbeddedPostgres({ dataDir: `${folder}/postgres` });
  await migrate(server.url, defaultSets());
  const owner = new pg.Client({ connectionString: server.url });
  await owner.connect();
  return {
    url: server.url,
    async query(sql) {
      await owner.query(sql);
    },
    async close() {
      await owner.end();
      await server.stop();
    },
  };
}
