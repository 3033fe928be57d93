/** As fast as Node brings rows into the table: 250 in an insert, two connections, no question asked of any row. */
import { newId, uuidOf } from '@countersign/event-store';
import pg from 'pg';
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import { BODY, META_TEXT, TYPE } from './event.js';

const ROWS = 250;
const CONNECTIONS = 2;
const INSERT = {
  name: 'unnest',
  text: `insert into bench.unnest (stream, version, id, project, type, body, meta)
    select * from unnest($1::uuid[], $2::integer[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[])`,
};

export async function start({ url }: { url: string }): Promise<Side> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  const of = <T>(value: () => T): T[] => Array.from({ length: ROWS }, value);
  const uuid = () => uuidOf(newId('evt'));
  return {
    async round(seconds) {
      const { per_s, ...latencies } = await closedLoop(CONNECTIONS, seconds, () =>
        pool.query({
          ...INSERT,
          values: [of(uuid), of(() => 1), of(uuid), of(uuid), of(() => TYPE), of(() => JSON.stringify(BODY)), of(() => META_TEXT)],
        }),
      );
      return { per_s: (per_s as number) * ROWS, ...latencies };
    },
    close: () => pool.end(),
  };
}
