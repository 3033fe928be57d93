/** R1 to R5 in the log itself. */
import { PEOPLE, PROJECT } from '../actors/cast.js';
import type { Check } from './check.js';
import { digestOf, type EventOf, type Facts, type Holder, isTerminal, type Standing, timeOf } from './facts.js';

type Body<T extends Parameters<typeof bodyOf>[0]['type']> = NonNullable<EventOf<T>['body']>;
const bodyOf = <E extends Facts['events'][number]>(event: E): NonNullable<E['body']> => event.body as NonNullable<E['body']>;

/** Every event with the review as it stood before it. */
function* told(reviews: Facts[]): Generator<{ review: Facts; event: Facts['events'][number]; before: Standing; at: string }> {
  for (const review of reviews)
    for (const [i, event] of review.events.entries())
      yield { review, event, before: review.standings[i] as Standing, at: `${event.type} at ${event.position}` };
}

const roleOf = (person: string): string | undefined => PEOPLE.find((one) => one.person_id === person)?.roles[PROJECT];
const holds = (person: string, { ref, person_id }: Holder): boolean =>
  person_id === null ? ref === `role:${roleOf(person)}` : person_id === person;

/** Who did it, where somebody did. */
function personOf(event: Facts['events'][number]): { kind: string; id?: string } | null {
  switch (event.type) {
    case 'review.decided': {
      const { trigger, decided_by, acted_by } = bodyOf(event);
      return trigger === 'action' ? decided_by : acted_by;
    }
    case 'review.changes_requested':
    case 'review.action_taken':
    case 'review.iteration_cancelled':
    case 'review.claimed':
    case 'review.released':
    case 'review.assigned':
      return bodyOf(event).by;
    default:
      return null;
  }
}

/** What may still happen to what is settled. */
const AFTERWARDS = [
  'review.redeemed',
  'review.executed',
  'review.late_attempt_refused',
  'review.archived',
  'review.unarchived',
  'review.from_the_future',
];
const BY_THE_CLOCK = ['review.expired', 'review.changes_timed_out', 'review.late_attempt_refused', ...AFTERWARDS];

export const REVIEW_CHECKS = {
  *'one end at most, and nothing of an open review after it'({ reviews }) {
    for (const { event, before, at } of told(reviews)) if (before.status === 'settled' && !AFTERWARDS.includes(event.type)) yield at;
  },

  *'nothing after the deadline'({ reviews }) {
    for (const { review, event, before, at } of told(reviews)) {
      const byClock = BY_THE_CLOCK.includes(event.type) || (event.type === 'review.decided' && bodyOf(event).trigger === 'timeout');
      if (byClock || before.status === 'none' || before.status === 'settled') continue;
      for (const end of [review.deadline, before.changesDeadline])
        if (end !== null && timeOf(event) >= end) yield `${at}, ${timeOf(event) - end} ms late`;
    }
  },

  *'the clock is never early, and does what was agreed'({ reviews }) {
    for (const { review, event, before, at } of told(reviews)) {
      const time = timeOf(event);
      const { timeout } = bodyOf(review.requested);
      const byTimeout = event.type === 'review.decided' && bodyOf(event).trigger === 'timeout';
      if (byTimeout || event.type === 'review.expired') {
        if (review.deadline === null || time < review.deadline) yield `${at} before its deadline`;
        const agreed = timeout?.action === 'auto_approve' && before.status === 'awaiting' ? 'expire' : timeout?.action;
        const done =
          event.type === 'review.expired'
            ? 'expire'
            : bodyOf(event as EventOf<'review.decided'>).decision === 'approved'
              ? 'auto_approve'
              : 'auto_reject';
        if (agreed !== done) yield `${at}: ${done} where ${agreed} was agreed`;
        if (before.changesDeadline !== null && review.deadline !== null && before.changesDeadline < review.deadline)
          yield `${at} before the wait for changes had ended`;
      }
      if (event.type === 'review.changes_timed_out' && (before.changesDeadline === null || time < before.changesDeadline))
        yield `${at} early`;
      if (event.type === 'review.reminded' && time < review.created + Math.floor((timeout?.seconds ?? 0) * 0.75) * 1000)
        yield `${at} early`;
    }
  },

  *'only people who may, do what people do'({ reviews }) {
    for (const { review, event, before, at } of told(reviews)) {
      const by = personOf(event);
      if (by === null) {
        if (event.type === 'review.decided' && bodyOf(event).decided_by.kind !== 'system') yield `${at} by nobody`;
        continue;
      }
      const person = by.kind === 'person' ? (by.id ?? '') : '';
      const role = roleOf(person);
      if (role === undefined) yield `${at} by ${JSON.stringify(by)}`;
      if (event.type === 'review.assigned' && role !== 'admin') yield `${at} by a ${role}`;
      const taken = before.holder !== null && !holds(person, before.holder);
      if (taken && role !== 'admin') yield `${at} although ${before.holder?.ref} holds it`;
      if (taken && !['review.claimed', 'review.assigned', 'review.released'].includes(event.type))
        yield `${at} although ${before.holder?.ref} holds it`;
      if (event.type === 'review.decided' && bodyOf(event).approved_digest !== null && review.answerable.has(person))
        yield `${at} by who asked`;
    }
  },

  *'what was approved is what was shown, and what may run'({ reviews }) {
    for (const { event, before, at } of told(reviews)) {
      if (event.type === 'review.requested' || event.type === 'review.resubmitted') {
        const { payload, payload_digest } = bodyOf(event);
        if (payload_digest !== digestOf(payload)) yield `${at}: the digest is not the payload's`;
        if (event.type === 'review.resubmitted' && (before.status !== 'awaiting' || bodyOf(event).version !== before.version + 1))
          yield `${at}: not the next version`;
      }
      if (event.type === 'review.decided') yield* approval(bodyOf(event), before, at);
      if (event.type === 'review.changes_requested') {
        if (before.status !== 'pending') yield `${at} while ${before.status}`;
        if (bodyOf(event).shown.version !== before.version) yield `${at}: shown another version`;
      }
    }
  },

  *'an approval is redeemed once, in its time, for exactly its value'({ reviews }) {
    for (const review of reviews) {
      const approved = review.settled?.approved;
      const redeemed = review.events.filter((event) => event.type === 'review.redeemed') as EventOf<'review.redeemed'>[];
      if (redeemed.length > 1) yield `${review.stream} was redeemed ${redeemed.length} times`;
      for (const event of redeemed) {
        if (!approved) yield `${review.stream} was redeemed and never approved`;
        else if (bodyOf(event).digest !== approved.digest) yield `${review.stream}: another value was redeemed`;
        const valid = bodyOf(review.requested).approval_valid_seconds;
        if (valid !== null && timeOf(event) >= (review.settled?.at ?? 0) + valid * 1000) yield `${review.stream} was redeemed late`;
      }
      const told = review.events.findIndex(isTerminal);
      const ran = review.events.findIndex((event) => event.type === 'review.executed');
      if (ran >= 0 && (told < 0 || ran < told || !approved)) yield `${review.stream} ran without an approval`;
    }
  },

  *'as many rounds as were agreed'({ reviews }) {
    for (const { review, event, before, at } of told(reviews)) {
      const most = bodyOf(review.requested).max_iterations;
      if (event.type === 'review.changes_requested' && most !== null && before.version > most)
        yield `${at} at version ${before.version} of ${most}`;
      if (event.type === 'review.decided' && bodyOf(event).trigger === 'max_iterations' && (most === null || before.version <= most))
        yield `${at} too soon`;
    }
  },

  *'positions are dense, and times follow them'({ stage }) {
    let time = '';
    for (const [i, event] of stage.database.log.events.entries()) {
      if (event.position !== i + 1) yield `position ${event.position} after ${i}`;
      if (event.time < time) yield `${event.type} at ${event.position} is dated before the one before it`;
      time = event.time;
    }
  },
} satisfies Record<string, Check>;

function* approval(body: Body<'review.decided'>, before: Standing, at: string): Generator<string> {
  if (body.version !== before.version) yield `${at}: version ${body.version} of ${before.version}`;
  if (body.shown && (body.shown.version !== before.version || body.shown.digest !== digestOf(before.payload)))
    yield `${at}: something else was shown`;
  if (body.trigger === 'action' && before.status === 'awaiting' && body.action?.id !== 'reject_from_iteration')
    yield `${at} while changes were awaited`;
  if (!body.approved_value) {
    if (['approved', 'edited'].includes(body.decision)) yield `${at}: approved without a value`;
    return;
  }
  const edited = (body.edited_payload ?? {}) as Record<string, unknown>;
  const value = { ...before.payload, ...edited };
  if (digestOf(body.approved_value) !== digestOf(value)) yield `${at}: the approved value is not what was shown with its edit`;
  if (body.approved_digest !== digestOf(value)) yield `${at}: the approved digest is not its value's`;
  const changed = Object.keys(value).filter((name) => digestOf({ v: value[name] }) !== digestOf({ v: before.payload[name] }));
  if (changed.some((name) => name !== 'subject')) yield `${at}: ${changed.join(', ')} cannot be edited`;
  if ((body.decision === 'edited') !== changed.length > 0) yield `${at}: ${body.decision} with ${changed.length} changes`;
}
