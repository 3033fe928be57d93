/**
 * What the log says of a review, read by the judge itself: none of this is the code that is judged. Times are milliseconds since 1970.
 */
import { createHash } from 'node:crypto';
import type { ReviewEvent } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { ALIEN } from '../world/groups.js';

type Event = StoredEvent<ReviewEvent>;
export type EventOf<T extends ReviewEvent['type']> = Extract<Event, { type: T }>;

export interface Holder {
  ref: string;
  person_id: string | null;
}

/** The review as it stood before an event. */
export interface Standing {
  status: 'none' | 'pending' | 'awaiting' | 'settled';
  version: number;
  payload: Record<string, unknown>;
  holder: Holder | null;
  /** End of the wait for changes. */
  changesDeadline: number | null;
}

export interface Settled {
  event: Event;
  status: 'decided' | 'expired';
  decision: string | null;
  by: string | null;
  /** When it happened, which for the clock is the deadline. */
  at: number;
  approved: { value: Record<string, unknown>; digest: string } | null;
}

export interface Facts {
  stream: string;
  events: Event[];
  /** Before each event. */
  standings: Standing[];
  last: Standing;
  requested: EventOf<'review.requested'>;
  created: number;
  deadline: number | null;
  answerable: Set<string>;
  settled: Settled | null;
  /** A newer release wrote to it. */
  alien: boolean;
}

/** RFC 8785 for what payloads hold here: plain members in ASCII. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
const digests = new Map<string, string>();
/** Schedules ask for the same few again and again. */
export function digestOf(value: unknown): string {
  const text = canonical(value);
  const known = digests.get(text);
  if (known !== undefined) return known;
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  digests.set(text, digest);
  return digest;
}

export const timeOf = (event: { time: string }): number => Date.parse(event.time);

const NOTHING: Standing = { status: 'none', version: 0, payload: {}, holder: null, changesDeadline: null };

function after(before: Standing, event: Event): Standing {
  switch (event.type) {
    case 'review.requested':
      return { ...before, status: 'pending', version: 1, payload: event.body?.payload ?? {} };
    case 'review.changes_requested': {
      const seconds = event.body?.changes_timeout_seconds ?? null;
      return { ...before, status: 'awaiting', changesDeadline: seconds === null ? null : timeOf(event) + seconds * 1000 };
    }
    case 'review.resubmitted':
      return { ...before, status: 'pending', version: event.body?.version ?? 0, payload: event.body?.payload ?? {}, changesDeadline: null };
    case 'review.iteration_cancelled':
    case 'review.changes_timed_out':
      return { ...before, status: 'pending', changesDeadline: null };
    case 'review.claimed':
      return { ...before, holder: event.body && { ref: `reviewer:${event.body.by.email}`, person_id: event.body.by.id } };
    case 'review.assigned':
      return event.body?.hold ? { ...before, holder: event.body.hold } : before;
    case 'review.released':
      return { ...before, holder: null };
    case 'review.unassigned':
      return event.body?.holder ? { ...before, holder: null } : before;
    case 'review.decided':
    case 'review.expired':
    case 'review.withdrawn':
      return { ...before, status: 'settled', holder: null, changesDeadline: null };
    default:
      return before;
  }
}

const TERMINAL: readonly string[] = ['review.decided', 'review.expired', 'review.withdrawn'];
export const isTerminal = (event: { type: string }): boolean => TERMINAL.includes(event.type);

function settledBy(event: Event, deadline: number | null): Settled {
  const clock = deadline ?? timeOf(event);
  if (event.type !== 'review.decided') {
    const at = event.type === 'review.expired' ? clock : timeOf(event);
    return { event, status: 'expired', decision: null, by: null, at, approved: null };
  }
  const body = event.body as NonNullable<EventOf<'review.decided'>['body']>;
  const by = body.decided_by.kind === 'person' ? body.decided_by.email : body.decided_by.id;
  const approved =
    body.approved_value && body.approved_digest
      ? { value: body.approved_value as Record<string, unknown>, digest: body.approved_digest }
      : null;
  return { event, status: 'decided', decision: body.decision, by, at: body.trigger === 'timeout' ? clock : timeOf(event), approved };
}

/** Every review of a log. */
export function factsOf(log: readonly StoredEvent[]): Facts[] {
  const streams = Map.groupBy(
    log.filter((event) => event.category === 'review'),
    (event) => event.stream,
  );
  return [...streams].map(([stream, stored]) => {
    const events = stored as Event[];
    const requested = events[0] as EventOf<'review.requested'>;
    const { timeout, requester, on_behalf_of } = requested.body as NonNullable<typeof requested.body>;
    const created = timeOf(requested);
    const deadline = timeout === null ? null : created + timeout.seconds * 1000;
    const standings: Standing[] = [];
    let standing = NOTHING;
    for (const event of events) {
      standings.push(standing);
      standing = after(standing, event);
    }
    const terminal = events.find(isTerminal);
    const people = [requester.owner, on_behalf_of?.person_id].filter((one) => typeof one === 'string');
    const alien = events.some((event) => (event.type as string) === ALIEN);
    const settled = terminal ? settledBy(terminal, deadline) : null;
    return { stream, events, standings, last: standing, requested, created, deadline, answerable: new Set(people), settled, alien };
  });
}
