/** Read model: who has left a project and not come back. */
import type { MembershipEnded, MembershipGranted } from '@countersign/contracts';
import type { DomainEvent, StoredEvent } from '@countersign/event-store';
import type { PoolClient } from 'pg';

export type MembershipEvent = DomainEvent<'membership.granted', MembershipGranted> | DomainEvent<'membership.ended', MembershipEnded>;

export const MEMBERSHIP_TYPES = ['membership.granted', 'membership.ended'] as const satisfies MembershipEvent['type'][];

export async function applyDepartures(tx: PoolClient, events: StoredEvent<MembershipEvent>[], schema: string): Promise<void> {
  // The last word about each person. What is erased says nothing of anybody.
  const said = events.filter((event) => event.body !== null && MEMBERSHIP_TYPES.includes(event.type));
  const last = new Map(said.map((event) => [`${event.stream} ${event.body.person_id}`, event]));
  const of = (type: MembershipEvent['type']) => {
    const these = [...last.values()].filter((event) => event.type === type);
    return [these.map((event) => event.stream), these.map((event) => event.body.person_id)];
  };
  await tx.query(
    `delete from ${schema}.departures d using unnest($1::text[], $2::text[]) as back (project, person)
     where d.project = back.project and d.person = back.person`,
    of('membership.granted'),
  );
  await tx.query(
    `insert into ${schema}.departures (project, person) select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
    of('membership.ended'),
  );
}
