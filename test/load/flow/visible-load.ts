/**
 * Requests and decisions at a fixed rate, and somebody who looks every millisecond how far the lists have come: the cursor of their group
 * moves in the transaction that changes them. An event counts from its time in the log to the first look that finds it handled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Side } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { openLoop } from '../measure/callers.js';
import { Latencies } from '../measure/latencies.js';
import type { Access } from '../stage/product.js';

const CONNECTIONS = 64;
const LOOK_MS = 1;

interface Look {
  at: number;
  cursors: Map<number, number>;
}

export async function start({ rate, ...access }: Access & { rate: number }): Promise<Side> {
  const client = new Client(access.url, CONNECTIONS);
  const db = new pg.Client({ connectionString: access.database });
  await db.connect();
  const head = async () => Number((await db.query('select position from event_store.head where shard = 0')).rows[0].position);

  async function look(): Promise<Look> {
    const { rows } = await db.query<{ bucket: number; position: string }>({
      name: 'look',
      text: "select bucket, position from event_bus.cursors where group_name = 'audit'",
    });
    return { at: Date.now(), cursors: new Map(rows.map(({ bucket, position }) => [bucket, Number(position)])) };
  }

  /** Looks until told to stop and everything up to the newest event was seen. */
  async function watch(isOver: () => boolean): Promise<Look[]> {
    const looks: Look[] = [];
    for (;;) {
      const over = isOver();
      const newest = over ? await head() : Number.POSITIVE_INFINITY;
      const seen = await look();
      looks.push(seen);
      if (over && [...seen.cursors.values()].every((position) => position >= newest)) return looks;
      await sleep(LOOK_MS);
    }
  }

  return {
    async round(seconds) {
      const before = await head();
      let over = false;
      const watching = watch(() => over);
      const ids: string[] = [];
      // Half of the events are requests, half are decisions.
      await openLoop(rate, seconds, async (nth) => {
        if (nth % 2 === 0) ids.push(await createReview(client, access));
        else {
          const id = ids.shift();
          if (id !== undefined) await approve(client, access, id);
        }
      });
      over = true;
      const looks = await watching;
      const { rows } = await db.query<{ position: string; bucket: number; at: number }>(
        'select position, bucket, extract(epoch from time)::float8 * 1000 as at from event_store.events where position > $1 order by position',
        [before],
      );
      const took = new Latencies();
      for (const { position, bucket, at } of rows) {
        const seen = looks.find(({ cursors }) => (cursors.get(bucket) ?? 0) >= Number(position));
        if (seen === undefined) throw new Error(`The event at ${position} was never seen.`);
        took.add(seen.at - at);
      }
      return { ...took.sample(), event_count: rows.length };
    },
    async close() {
      await client.close();
      await db.end();
    },
  };
}
