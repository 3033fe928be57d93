/** One row at a time through node-pg: prepared, committed by itself. */
import pg from 'pg';
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import { BODY, META_TEXT, TYPE } from './event.js';
import { insertInto } from './table.js';

export async function start({ url }: { url: string }): Promise<Side> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    round: (seconds) =>
      closedLoop(1, seconds, () =>
        client.query({ name: 'single', text: insertInto('single'), values: [TYPE, JSON.stringify(BODY), META_TEXT] }),
      ),
    close: () => client.end(),
  };
}
