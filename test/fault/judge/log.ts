/** What the log says by itself, in the judge's own reading of it: nothing here is taken from the product's rules. */
import type { Fact, Fault, History, Standing } from './history.js';

export const SETTLING = new Set(['review.decided', 'review.expired', 'review.withdrawn']);
/** What may follow an end. */
const AFTERWARDS = new Set(['review.redeemed', 'review.executed', 'review.late_attempt_refused', 'review.reminded']);
/** What only somebody does, and only before the deadline. */
const BY_SOMEBODY = new Set(['review.changes_requested', 'review.resubmitted', 'review.withdrawn', 'review.iteration_cancelled']);

const later = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString();

export function byReview(facts: readonly Fact[]): Map<string, Fact[]> {
  const found = new Map<string, Fact[]>();
  for (const fact of facts) {
    const own = found.get(fact.stream);
    if (own) own.push(fact);
    else found.set(fact.stream, [fact]);
  }
  return found;
}

/** When its window ends; null = never. */
function deadlineOf([requested]: readonly Fact[]): string | null {
  const timeout = requested?.body.timeout;
  return requested && timeout ? later(requested.time, timeout.seconds) : null;
}

/** The review as its facts leave it. */
export function standing(id: string, facts: readonly Fact[]): Standing & { approved_digest: string | null } {
  const review: ReturnType<typeof standing> = {
    id,
    status: 'pending',
    decision: null,
    decided_by: null,
    decided_at: null,
    current_version: 1,
    approved_digest: null,
  };
  for (const { type, time, body } of facts) {
    if (type === 'review.changes_requested') review.status = 'awaiting_iteration';
    if (type === 'review.iteration_cancelled') review.status = 'pending';
    if (type === 'review.expired' || type === 'review.withdrawn') review.status = 'expired';
    if (type === 'review.resubmitted') Object.assign(review, { status: 'pending', current_version: body.version });
    if (type === 'review.decided') {
      review.status = 'decided';
      review.decision = body.decision ?? null;
      review.decided_by = body.decided_by?.email ?? body.decided_by?.id ?? null;
      review.decided_at = body.trigger === 'timeout' ? deadlineOf(facts) : time;
      review.approved_digest = body.approved_digest ?? null;
    }
  }
  return review;
}

function* twice<T>(items: readonly T[], key: (item: T) => string | null): Generator<[string, T[]]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    if (name !== null) found.set(name, [...(found.get(name) ?? []), item]);
  }
  for (const [name, same] of found) if (same.length > 1) yield [name, same];
}

const at = ({ type, stream, position }: Fact): string => `${type} of ${stream} at ${position}`;
const places = (facts: readonly Fact[]): string => facts.map(({ position }) => position).join(', ');

/** A thing that happens once however often it is asked for, by name; null for others. */
function onceOnly({ type, stream, body }: Fact): string | null {
  switch (type) {
    case 'review.requested':
      return body.idempotency_key ? `the request of ${body.idempotency_key}` : null;
    case 'review.resubmitted':
      return `version ${body.version} of ${stream}`;
    case 'review.changes_requested':
      return `what ${body.by?.email} asked of version ${body.shown?.version} of ${stream}`;
    case 'review.redeemed':
      return `the redemption of ${stream}`;
    default:
      return null;
  }
}

export function* faultsOfLog({ facts, chain }: Pick<History, 'facts' | 'chain'>): Generator<Fault> {
  if (!chain.valid) yield { kind: 'forked', what: 'the hash chain does not verify' };
  if (chain.count !== chain.last - chain.first + 1) {
    yield { kind: 'lost', what: `of the positions ${chain.first} to ${chain.last} there are ${chain.count}` };
  }
  const unique: [string, (fact: Fact) => string][] = [
    ['position', ({ position }) => String(position)],
    ['version', ({ stream, version }) => `${version} of ${stream}`],
    ['id', ({ id }) => id],
  ];
  for (const [name, key] of unique) {
    for (const [place, same] of twice(facts, key))
      yield { kind: 'forked', what: `${name} ${place} is taken by ${same.map(at).join(' and ')}` };
  }
  for (const [what, same] of twice(facts, onceOnly)) yield { kind: 'doubled', what: `${what} is at ${places(same)}` };
  for (const [stream, own] of byReview(facts)) yield* faultsOfReview(stream, own);
}

function* faultsOfReview(stream: string, own: readonly Fact[]): Generator<Fault> {
  const order = own.toSorted((one, other) => one.position - other.position);
  const versions = order.map(({ version }) => version);
  if (versions.some((version, n) => n > 0 && version <= (versions[n - 1] as number))) {
    yield { kind: 'reordered', what: `${stream} has its versions in the order ${versions.join(', ')}` };
  } else if (versions.at(-1) !== versions.length) {
    yield { kind: 'lost', what: `${stream} has the versions ${versions.join(', ')}` };
  }
  if (order[0]?.type !== 'review.requested') yield { kind: 'lost', what: `the request of ${stream}` };
  const settling = order.filter(({ type }) => SETTLING.has(type));
  if (settling.length > 1) yield { kind: 'decided twice', what: settling.map(at).join(' and ') };
  const end = order.findIndex(({ type }) => SETTLING.has(type));
  const after = end < 0 ? [] : order.slice(end + 1).filter(({ type }) => !AFTERWARDS.has(type) && !SETTLING.has(type));
  for (const fact of after) yield { kind: 'reordered', what: `${at(fact)} follows the end of its review` };

  const deadline = deadlineOf(order);
  for (const fact of order) {
    const { type, body, time } = fact;
    const byClock = type === 'review.expired' || (type === 'review.decided' && body.trigger === 'timeout');
    if (byClock) {
      if (deadline === null || time < deadline) yield { kind: 'told otherwise', what: `${at(fact)} is before its deadline ${deadline}` };
    } else if ((BY_SOMEBODY.has(type) || type === 'review.decided') && deadline !== null && time >= deadline) {
      yield { kind: 'decided after the deadline', what: `${at(fact)}: ${time}, where the window ended ${deadline}` };
    }
  }
}
