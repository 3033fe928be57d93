/**
 * Read model: who did what. Holds what readers filter by; the details stay in the event store.
 *
 * The one thing of an event that is copied here and can be erased there is who caused it: an erasure that takes the metadata takes that too,
 * so that what lived through it and what is rebuilt after it are the same.
 */
import { isRedaction, REDACTED, type StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';

/** `<kind>:<id>`, one for each person whatever wrote the event; a key is named by the public part of the key itself. */
export function actorOf({ actor }: StoredEvent['meta']): string {
  if (!actor) return 'system:unknown';
  return `${actor.kind}:${actor.kind === 'agent' ? (actor.label ?? actor.id) : actor.id}`;
}

interface Redaction {
  /** Whether it took the metadata of the events too. */
  metadata: boolean;
}

export async function applyLog(tx: PoolClient, events: StoredEvent[], schema: string): Promise<void> {
  await tx.query(
    `insert into ${schema}.log (position, project, action, actor, resource_type, resource_id, time)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
     on conflict (position) do nothing`,
    [
      events.map((e) => e.position),
      events.map((e) => e.project),
      events.map((e) => e.type),
      events.map((e) => actorOf(e.meta)),
      events.map((e) => e.category),
      events.map((e) => e.stream),
      events.map((e) => e.time),
    ],
  );
  const erasures = events.filter((e) => isRedaction(e) && (e.body as Redaction | null)?.metadata);
  if (erasures.length === 0) return;
  await tx.query(
    `update ${schema}.log l set actor = $3 from unnest($1::text[], $2::bigint[]) as erased (stream, position)
     where l.resource_id = erased.stream and l.position < erased.position and l.action <> $4`,
    [erasures.map((e) => e.stream), erasures.map((e) => e.position), actorOf({}), REDACTED],
  );
}
