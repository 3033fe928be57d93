/** Read model: which reviews have a delivery that ended as a dead letter. */
import type { DeliveryEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';

export async function applyFailedDeliveries(tx: PoolClient, events: StoredEvent<DeliveryEvent>[], schema: string): Promise<void> {
  const last = new Map(events.filter((e) => e.body !== null).map((event) => [event.stream, event]));
  const failed = [...last.values()].filter((event) => event.type === 'delivery.dead_lettered');
  const others = [...last.values()].filter((event) => event.type !== 'delivery.dead_lettered');
  await tx.query(`delete from ${schema}.failed_deliveries where delivery = any ($1)`, [others.map((e) => e.stream)]);
  await tx.query(
    `insert into ${schema}.failed_deliveries (delivery, review) select * from unnest($1::text[], $2::text[])
     on conflict (delivery) do nothing`,
    [failed.map((e) => e.stream), failed.map((e) => e.body.review_id)],
  );
}
