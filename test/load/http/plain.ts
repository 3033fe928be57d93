import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Side } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';

const TABLE = `
  create schema bench;
  create table bench.reviews (
    id uuid primary key,
    template text not null,
    payload jsonb not null,
    idempotency_key text unique,
    status text not null,
    decision text,
    created_at timestamptz not null default now(),
    decided_at timestamptz
  )`;

/** The handlers somebody would write, in a process of their own, and the same load on them from another. */
export async function plain(database: string, connections: number): Promise<Side> {
  const owner = new pg.Client({ connectionString: database });
  await owner.connect();
  await owner.query(TABLE);
  await owner.end();
  const server = fork(fileURLToPath(beside(import.meta, './plain-server')), [database]);
  const [url] = (await once(server, 'message')) as [string];
  const load = await forkedSide(beside(import.meta, './closed-load'), { url, key: 'none', session: 'none', database, connections });
  return {
    round: (seconds) => load.round(seconds),
    async close() {
      await load.close();
      const exited = once(server, 'exit');
      server.disconnect();
      await exited;
    },
  };
}
