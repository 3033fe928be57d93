/** What people and agents were answered, held against the log. */
import type { Answered, Fact, Fault, History, Standing } from './history.js';
import { byReview, SETTLING, standing } from './log.js';

const OUTCOME = ['status', 'decision', 'decided_by', 'decided_at'] as const;
const isSettled = ({ status }: Standing): boolean => status === 'decided' || status === 'expired';
const said = (review: Standing): string => JSON.stringify(Object.fromEntries(OUTCOME.map((name) => [name, review[name]])));
const what = ({ by, what: asked, said: words, review, status }: Answered): string =>
  `${asked} ${JSON.stringify(words)} of ${review} by ${by}, answered ${status}`;

/** The fact that an acknowledgement promises; null where the promise names none. */
function promised({ what: asked, said: { action, version }, by, redemption }: Answered): ((fact: Fact) => boolean) | null {
  switch (asked) {
    case 'request':
      return ({ type }) => type === 'review.requested';
    case 'act':
      if (action === 'request_changes') {
        return ({ type, body }) => type === 'review.changes_requested' && body.by?.email === by && body.shown?.version === version;
      }
      if (action === 'cancel_iteration') return ({ type, body }) => type === 'review.iteration_cancelled' && body.by?.email === by;
      return ({ type, body }) => type === 'review.decided' && body.decided_by?.email === by;
    case 'resubmit':
      return ({ type, body }) => type === 'review.resubmitted' && body.version === version;
    case 'withdraw':
      return ({ type }) => type === 'review.withdrawn';
    case 'redeem':
      return ({ type, body }) => type === 'review.redeemed' && body.redemption_id === redemption;
    case 'read':
      return null;
  }
}

export function* faultsOfAnswers({ facts, answers }: Pick<History, 'facts' | 'answers'>): Generator<Fault> {
  const reviews = byReview(facts);
  const keys = new Map<string, string>();
  for (const answer of answers) {
    const { review, status, told, said: words, redemption } = answer;
    if (status >= 500) yield { kind: 'told otherwise', what: what(answer) };
    if (review === null) continue;
    const own = reviews.get(review) ?? [];
    if (status < 300) {
      const fact = promised(answer);
      if (fact !== null && !own.some(fact)) yield { kind: 'lost', what: what(answer) };
      if (answer.what === 'request' && words.key !== undefined) {
        const first = keys.get(words.key) ?? review;
        if (first !== review) yield { kind: 'doubled', what: `${words.key} was answered with ${first} and with ${review}` };
        keys.set(words.key, first);
      }
    }
    if (status === 409 && answer.what === 'redeem' && redemption !== null && !own.some(({ body }) => body.redemption_id === redemption)) {
      yield { kind: 'lost', what: `the redemption ${redemption}, of which a 409 told` };
    }
    if (told === null) continue;
    const stands = standing(review, own);
    if (isSettled(told) && !own.some(({ type }) => SETTLING.has(type))) {
      yield { kind: 'lost', what: `the end of ${review}, told as ${said(told)} (${what(answer)})` };
    } else if (isSettled(told) && said(told) !== said(stands)) {
      yield { kind: 'told otherwise', what: `${what(answer)}: ${said(told)}, and the log has ${said(stands)}` };
    } else if (told.current_version > stands.current_version) {
      yield { kind: 'lost', what: `version ${told.current_version} of ${review} (${what(answer)})` };
    }
  }
  yield* backwards(answers);
}

/** Whoever reads after somebody was told something is told no less: two readers on two branches would be. */
function* backwards(answers: readonly Answered[]): Generator<Fault> {
  const told = answers
    .filter((answer) => answer.told !== null && answer.status < 500)
    .toSorted((one, other) => one.answered - other.answered);
  const best = new Map<string, { answered: number; rank: number }[]>();
  const rank = (review: Standing): number => (isSettled(review) ? Number.POSITIVE_INFINITY : review.current_version);
  for (const answer of told) {
    const review = answer.told as Standing;
    const known = best.get(review.id) ?? [];
    const before = known.findLast(({ answered }) => answered < answer.sent);
    if (before !== undefined && rank(review) < before.rank) {
      yield {
        kind: 'forked',
        what: `${review.id} was told as version ${before.rank} or settled, and later as it was before: ${what(answer)}`,
      };
    }
    known.push({ answered: answer.answered, rank: Math.max(rank(review), known.at(-1)?.rank ?? 0) });
    best.set(review.id, known);
  }
}
