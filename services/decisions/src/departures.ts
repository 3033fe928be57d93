/**
 * Whoever leaves a project leaves nothing in their hands (HRP §1.6): what they were given, and what they hold, is free again.
 *
 * L1. Both sides are looked at: what a person has in hand when they leave, and who has left when a review gets into their hands. Each side
 *     takes the person's lock first, so that the one handled second sees the other, whichever process handles it.
 * L2. Only the project's own stream says that somebody is out now. Who came back before this looked keeps what they have.
 * L3. A command's id is made of its cause and the review, and the rules do nothing where nothing is the person's. So a batch that comes
 *     again changes nothing; and a replay sends nothing at all.
 */
import type { ReviewEvent } from '@countersign/contracts';
import { type BatchContext, duringEvent } from '@countersign/event-bus';
import type { EventStore, StoredEvent } from '@countersign/event-store';
import { onReview, unassign } from '@countersign/review';
import type { PoolClient } from 'pg';
import { DECISIONS_PROJECTION } from './projection.js';
import type { MembershipEvent } from './projections/departures.js';

/** Reviews freed at a time. */
const AT_ONCE = 20;

interface InHand {
  review: string;
  project: string;
  person: string;
}

/** Keeps the read model, and frees what is in the hands of those who have left. */
export async function followHands(store: EventStore, events: StoredEvent[], { tx, replay }: BatchContext): Promise<void> {
  await lockPeople(tx, events);
  await DECISIONS_PROJECTION.apply(tx, events, DECISIONS_PROJECTION.schema);
  if (replay) return;
  const found = await inHandsOfDeparted(tx, events);
  const gone = await whoIsGone(store, found);
  const freed = found.filter(({ project, person }) => gone.has(`${project} ${person}`));
  const outcomes: PromiseSettledResult<void>[] = [];
  for (let start = 0; start < freed.length; start += AT_ONCE) {
    outcomes.push(...(await Promise.allSettled(freed.slice(start, start + AT_ONCE).map((one) => free(store, one, causeOf(one, events))))));
  }
  // One review that cannot be read holds up no other.
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

async function free(store: EventStore, { review, person }: InHand, event: StoredEvent): Promise<void> {
  const { id: cause } = event;
  await duringEvent(event, () =>
    onReview(store, {
      review_id: review,
      actor: { kind: 'system', id: 'departures' },
      caused_by: cause,
      command_id: `unassign:${review}:${cause}`,
      decide: (state, now) => unassign({ person_id: person, reason: 'membership_ended' }, state, now),
    }),
  );
}

/** People an event puts in or out of a project, or a review into the hands of. */
function peopleOf(event: StoredEvent<ReviewEvent | MembershipEvent>): (string | null | undefined)[] {
  if (event.body === null) return [];
  switch (event.type) {
    case 'membership.granted':
    case 'membership.ended':
      return [event.body.person_id];
    case 'review.requested':
      return [event.body.assignee_id];
    case 'review.assigned':
      return [event.body.assignee_id, event.body.hold?.person_id];
    case 'review.claimed':
      return [event.body.by.id];
    default:
      return [];
  }
}

async function lockPeople(tx: PoolClient, events: StoredEvent[]): Promise<void> {
  const people = (events as StoredEvent<ReviewEvent | MembershipEvent>[]).flatMap((event) =>
    peopleOf(event).flatMap((person) => (person ? [`${event.project} ${person}`] : [])),
  );
  if (people.length === 0) return;
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('decisions:' || person, 0)) from unnest($1::text[]) as person`, [
    [...new Set(people)].sort(),
  ]);
}

/** Of the reviews and people these events are about: what somebody who has left has in hand. */
async function inHandsOfDeparted(tx: PoolClient, events: StoredEvent[]): Promise<InHand[]> {
  const ended = events.filter((event) => event.type === 'membership.ended') as Extract<
    StoredEvent<MembershipEvent>,
    { type: 'membership.ended' }
  >[];
  const { rows } = await tx.query<InHand>(
    `select h.review, h.project, d.person from decisions.in_hand h
     join decisions.departures d on d.project = h.project and d.person in (h.assignee, h.holder)
     where h.review = any ($1) or (d.project, d.person) in (select * from unnest($2::text[], $3::text[]))`,
    [[...new Set(events.map((event) => event.stream))], ended.map((event) => event.project), ended.map((event) => event.body?.person_id)],
  );
  return rows;
}

/** `<project> <person>` of those who are not in the project now. */
async function whoIsGone(store: EventStore, found: InHand[]): Promise<Set<string>> {
  const gone = new Set<string>();
  for (const project of new Set(found.map((one) => one.project))) {
    const { events } = await store.readStream<MembershipEvent>(project);
    for (const { type, body } of events) {
      if (type === 'membership.ended' && body) gone.add(`${project} ${body.person_id}`);
      if (type === 'membership.granted' && body) gone.delete(`${project} ${body.person_id}`);
    }
  }
  return gone;
}

/** The event that showed it: the person's leaving, else the newest fact of the review. */
function causeOf({ review, project, person }: InHand, events: StoredEvent[]): StoredEvent {
  const left = events.find(
    (event) =>
      event.type === 'membership.ended' && event.stream === project && (event.body as MembershipEvent['body'] | null)?.person_id === person,
  );
  const cause = left ?? events.findLast((event) => event.stream === review);
  if (!cause) throw new Error(`No event of the batch shows why ${review} should be freed.`);
  return cause;
}
