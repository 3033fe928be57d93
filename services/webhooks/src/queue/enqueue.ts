import type { PoolClient } from 'pg';
import { advanceHeads, databaseTime, endpointsFor, setDueTimes } from './endpoints.js';

/** Channel on which the workers are told that something is due; polling is the truth. */
export const DUE_CHANNEL = 'webhooks_due';

/** A delivery as an event demands it. Ids are uuids. */
export interface NewDelivery {
  id: string;
  project: string;
  review: string;
  event_type: string;
  url: string;
  body: string;
  request_id: string | null;
}

/**
 * Puts deliveries in line, each behind those of its review that are there already, in the order given. One whose id exists is left as it is.
 * A head that waits for another try is tried at once, since its review has something new to say.
 */
export async function enqueue(tx: PoolClient, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const origin = (delivery: NewDelivery) => new URL(delivery.url).origin;
  const places = deliveries.map((delivery) => ({ project: delivery.project, origin: origin(delivery) }));
  const endpointOf = await endpointsFor(tx, places);
  const endpoints = places.map(endpointOf);
  const now = await databaseTime(tx);
  const column = (name: keyof NewDelivery) => deliveries.map((delivery) => delivery[name]);
  const { rows } = await tx.query<{ review: string }>(
    `insert into webhooks.deliveries (id, endpoint, project, review, event_type, url, body, request_id, status, created_at)
     select id, endpoint, project, review, event_type, url, body, request_id, 'pending', $9::timestamptz
     from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[])
       with ordinality as d (id, endpoint, project, review, event_type, url, body, request_id, ord)
     order by ord
     on conflict (id) do nothing returning review`,
    [
      column('id'),
      endpoints,
      column('project'),
      column('review'),
      column('event_type'),
      column('url'),
      column('body'),
      column('request_id'),
      new Date(now),
    ],
  );
  await advanceHeads(tx, [...new Set(rows.map((row) => row.review))], { now, hurry: 'blocked' });
  await setDueTimes(tx, [...new Set(endpoints)], now);
  await tx.query(`notify ${DUE_CHANNEL}`);
}
