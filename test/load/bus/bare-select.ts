/** The same events by a loop of SELECTs, their JSON read. */
import pg from 'pg';
import type { Side } from '../figure.js';
import { BATCH } from './messages.js';

const PAGE = {
  name: 'page',
  text: `select position, stream, version, id, project, type, time, body, meta from event_store.events
    where shard = 0 and position > $1 order by position limit ${BATCH}`,
};

export async function start({ database }: { database: string }): Promise<Side> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  return {
    async round() {
      const began = performance.now();
      let count = 0;
      for (let after = '0'; ; ) {
        const { rows } = await client.query<{ position: string; body: string; meta: string }>({ ...PAGE, values: [after] });
        const last = rows.at(-1);
        if (last === undefined) break;
        for (const { body, meta } of rows) count += JSON.parse(body) && JSON.parse(meta) ? 1 : 0;
        after = last.position;
      }
      return { per_s: count / ((performance.now() - began) / 1_000) };
    },
    close: () => client.end(),
  };
}
