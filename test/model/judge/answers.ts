/** What was said against what became of it: R3, R6, K9, and that whoever lost was told how it stands. */
import type { Review } from '@countersign/contracts';
import type { History, Reply, Said } from '../history.js';
import type { Check } from './check.js';
import { digestOf, type Facts, isTerminal } from './facts.js';

const SETTLED: readonly string[] = ['decided', 'expired', 'archived'];
/** What tells the loser how it stands. */
const TELLING = ['review_already_decided', 'review_expired', 'idempotency_key_terminal_conflict'];

type Ok = Extract<Reply, { kind: 'ok' }>;
type Refused = Extract<Reply, { kind: 'refused' }>;

function* answered<K extends Reply['kind']>(
  said: Said[],
  kind: K,
): Generator<{ one: Said; reply: Extract<Reply, { kind: K }>; of: string }> {
  for (const one of said)
    for (const reply of [...one.earlier, one.reply])
      if (reply.kind === kind) yield { one, reply: reply as Extract<Reply, { kind: K }>, of: `${one.request_id} ${one.actor} ${one.op}` };
}

const byStream = (reviews: Facts[]): Map<string, Facts> => new Map(reviews.map((review) => [review.stream, review]));

function differs(settled: Facts['settled'], view: Pick<Review, 'status' | 'decision' | 'decided_by' | 'decided_at'>): string | null {
  if (settled === null) return 'nothing was settled';
  if (view.status !== settled.status && view.status !== 'archived') return `${view.status}, not ${settled.status}`;
  if (view.decision !== settled.decision) return `${view.decision}, not ${settled.decision}`;
  if (view.decided_by !== settled.by) return `by ${view.decided_by}, not ${settled.by}`;
  const at = settled.decision === null ? null : new Date(settled.at).toISOString();
  return view.decided_at === at ? null : `at ${view.decided_at}, not ${at}`;
}

/** What the clock had settled and nobody wrote, a clock that is set back takes back. */
const mayTakeBack = ({ op }: Said, { clockSetBack }: History): boolean => clockSetBack && (op === 'look' || op === 'request');

export const ANSWER_CHECKS = {
  *'nobody is told of a fault of ours'({ history }) {
    for (const { reply, of } of answered(history.said, 'broken')) yield `${of}: ${reply.error}`;
    for (const { reply, of } of answered(history.said, 'unknown')) if (reply.error === 'StreamBusyError') yield `${of}: ${reply.error}`;
  },

  *'what is shown as settled is how it was settled'({ history, reviews }) {
    const facts = byStream(reviews);
    for (const { one, reply, of } of answered(history.said, 'ok')) {
      const { view } = reply as Ok;
      const review = view && facts.get(view.id);
      if (!view || !review || (review.alien && !review.settled)) continue;
      if (view.payload_digest !== digestOf(view.payload)) yield `${of}: the digest shown is not the payload's`;
      if (view.approved_value && view.approved_digest !== digestOf(view.approved_value))
        yield `${of}: the approved digest shown is not its value's`;
      const wrong = SETTLED.includes(view.status) && !mayTakeBack(one, history) ? differs(review.settled, view) : null;
      if (wrong) yield `${of} was shown ${wrong}`;
    }
  },

  *'whoever lost is told how it stands'({ history, reviews }) {
    const facts = byStream(reviews);
    for (const { one, reply, of } of answered(history.said, 'refused')) {
      const { code, extra } = reply as Refused;
      if (!TELLING.includes(code) || mayTakeBack(one, history)) continue;
      const told = (extra.review ?? null) as Review | null;
      const review = facts.get(told?.id ?? one.review ?? '');
      if (!told) yield `${of}: ${code} without the review`;
      else if (review && !(review.alien && !review.settled)) {
        const wrong = differs(review.settled, told);
        if (wrong) yield `${of} was told ${wrong}`;
      }
    }
  },

  *'an answer that was given is kept'({ history, reviews }) {
    for (const { stream, alien } of reviews) {
      const about = history.said.filter(({ reply }) => reply.kind === 'ok' && reply.view?.id === stream);
      let settledBy = Number.POSITIVE_INFINITY;
      for (const one of [...about].sort((a, b) => a.ended - b.ended)) {
        const { status } = (one.reply as Ok).view as Review;
        if (SETTLED.includes(status)) settledBy = Math.min(settledBy, one.ended);
      }
      if (alien || history.clockSetBack) continue;
      for (const one of about.filter(({ op }) => op === 'look')) {
        const { status } = (one.reply as Ok).view as Review;
        if (one.began > settledBy && !SETTLED.includes(status)) yield `${one.request_id} was shown ${status} after an answer`;
      }
    }
  },

  *'what was acknowledged is in the log, and a command repeated gets its first result'({ history, reviews }) {
    const led = new Map<string, Facts['events']>();
    for (const { events } of reviews)
      for (const event of events) led.set(event.meta.request_id ?? '', [...(led.get(event.meta.request_id ?? '') ?? []), event]);
    for (const { one, reply, of } of answered(history.said, 'ok')) {
      if (one.op !== 'look' && one.op !== 'slug' && !reply.replayed && !led.has(one.request_id))
        yield `${of} was acknowledged and is not there`;
    }
    for (const { request_id, op, reply, actor } of history.said) {
      const own = (led.get(request_id) ?? []).filter(
        (event) => isTerminal(event) && 'by' in (event.body ?? {}) !== (event.type === 'review.decided'),
      );
      const decided = own.find(
        (event) => event.type === 'review.withdrawn' || (event.type === 'review.decided' && event.body?.trigger === 'action'),
      );
      if (decided && reply.kind === 'refused') yield `${request_id} ${actor} ${op} did it and was refused: ${reply.code}`;
    }
  },

  *'what the person had on the screen is what they decided on'({ history, reviews }) {
    const asked = new Map(history.said.map((one) => [one.request_id, one]));
    for (const { events } of reviews)
      for (const event of events) {
        const shown = (event.body as { shown?: { basis: string; version: number; digest: string } | null } | null)?.shown;
        const one = asked.get(event.meta.request_id ?? '');
        if (!shown || one?.op !== 'act') continue;
        const { version = shown.version, digest } = one.asked.seen ?? {};
        if (shown.basis !== (digest ? 'exact' : 'assumed')) yield `${event.type} at ${event.position} says ${shown.basis}`;
        if (version !== shown.version || (digest ?? shown.digest) !== shown.digest)
          yield `${event.type} at ${event.position}: ${one.actor} saw another version`;
      }
  },

  *'a key asks for one review'({ history, reviews }) {
    const first = new Map<string, Facts>();
    for (const review of reviews) {
      const key = review.requested.body?.idempotency_key;
      if (!key) continue;
      if (first.has(key)) yield `${key} has two reviews`;
      first.set(key, review);
    }
    for (const { one, reply, of } of answered(history.said, 'ok')) {
      const review = one.op === 'request' && one.asked.key ? first.get(one.asked.key) : undefined;
      if (review && reply.view?.id !== review.stream) yield `${of} got another review for ${one.asked.key}`;
      if (review && digestOf(JSON.parse(one.asked.input ?? '')) !== digestOf(review.requested.body?.payload))
        yield `${of} asked for something else and got it`;
    }
  },

  *'a late attempt is refused and recorded'({ history, reviews }) {
    const facts = byStream(reviews);
    for (const { one, reply, of } of answered(history.said, 'refused')) {
      const review = facts.get(one.review ?? '');
      const { settled } = review ?? {};
      if (!review || one.op !== 'act' || !['review_already_decided', 'review_expired'].includes(reply.code)) continue;
      const clock = settled?.event.type === 'review.expired' || settled?.by === 'system:timeout';
      const late = review.events.some((event) => event.type === 'review.late_attempt_refused' && idOf(event.body?.by) === one.person_id);
      if (clock && !late) yield `${of} came late and is not recorded`;
    }
  },

  *'a name is taken once'({ history, stage }) {
    const drafted = stage.database.log.events.filter((event) => event.type === 'template.drafted');
    if (drafted.length > 1) yield `${drafted.length} have the name`;
    const holder = drafted[0]?.stream;
    for (const { reply, of } of answered(history.said, 'refused'))
      if (reply.code === 'slug_already_exists' && reply.extra.holder !== holder) yield `${of} was told of ${reply.extra.holder}`;
  },
} satisfies Record<string, Check>;

const idOf = (by: unknown): string | undefined => (by as { id?: string } | null)?.id;
