/** An event store as it is written first: BEGIN, the stream's version, the event, COMMIT, from a pool of 16. */
import { newId, uuidOf } from '@countersign/event-store';
import pg from 'pg';
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import { BODY_TEXT, META_TEXT, TYPE } from './event.js';

const STREAM = {
  name: 'stream',
  text: `insert into bench.streams as s (stream, version) values ($1, 1)
    on conflict (stream) do update set version = s.version + 1 where s.version = $2`,
};
const EVENT = {
  name: 'event',
  text: 'insert into bench.transaction (stream, version, id, project, type, body, meta) values ($1, $2, $3, $4, $5, $6, $7)',
};
const EVENTS_OF_A_STREAM = 3;

export async function start({ url, callers }: { url: string; callers: number }): Promise<Side> {
  const pool = new pg.Pool({ connectionString: url, max: 16 });
  const uuid = () => uuidOf(newId('evt'));
  const streams = Array.from({ length: callers }, () => ({ stream: uuid(), version: 0 }));

  async function append(caller: number): Promise<void> {
    const own = streams[caller] as (typeof streams)[number];
    if (own.version === EVENTS_OF_A_STREAM) Object.assign(own, { stream: uuid(), version: 0 });
    const client = await pool.connect();
    try {
      await client.query('begin');
      const { rowCount } = await client.query({ ...STREAM, values: [own.stream, own.version] });
      if (rowCount !== 1) throw new Error('The stream moved.');
      own.version += 1;
      await client.query({ ...EVENT, values: [own.stream, own.version, uuid(), uuid(), TYPE, BODY_TEXT, META_TEXT] });
      await client.query('commit');
    } finally {
      client.release();
    }
  }
  return { round: (seconds) => closedLoop(callers, seconds, append), close: () => pool.end() };
}
