/** Whether the agent's stream, the reviewer's page and the webhook receiver have learnt what the log says, and the same. */
import { differences } from '../../e2e/history.js';
import type { Fact, Fault, History, SeenFrame } from './history.js';
import { byReview, standing } from './log.js';

/** Types of the frames a fact is told by, in order (HRP §6.3). */
function framesOf({ type, body }: Fact): string[] {
  switch (type) {
    case 'review.requested':
      return ['review.created', ...(body.priority === 'high' || body.priority === 'critical' ? ['review.urgent'] : [])];
    case 'review.decided':
      return [...(body.trigger === 'action' ? ['review.action_taken'] : []), 'review.decided'];
    case 'review.changes_requested':
      return ['review.action_taken', 'review.retried'];
    case 'review.iteration_cancelled':
      return ['review.action_taken'];
    case 'review.expired':
    case 'review.withdrawn':
      return ['review.expired'];
    case 'review.reminded':
      return ['review.reminder'];
    case 'review.resubmitted':
    case 'review.redeemed':
    case 'review.executed':
      return [type];
    default:
      return [];
  }
}

function* faultsOfFrames(reviews: ReadonlyMap<string, Fact[]>, frames: readonly SeenFrame[]): Generator<Fault> {
  const seen = new Map<string, SeenFrame[]>();
  const ids = new Set<string>();
  for (const frame of frames) {
    if (ids.has(frame.id)) yield { kind: 'doubled', what: `frame ${frame.id} (${frame.type} of ${frame.review_id})` };
    ids.add(frame.id);
    if (frame.type === 'reset') yield { kind: 'lost', what: 'the stream was reset' };
    if (frame.review_id !== undefined) seen.set(frame.review_id, [...(seen.get(frame.review_id) ?? []), frame]);
  }
  for (const [review, facts] of reviews) {
    const own = seen.get(review) ?? [];
    const [due, came] = [facts.flatMap(framesOf), own.map(({ type }) => type)].map((types) => types.join(', '));
    if (due !== came) yield { kind: 'delivered differently', what: `the stream owes ${review} ${due}; there came ${came || 'nothing'}` };
    const { decision, decided_at } = standing(review, facts);
    for (const frame of own.filter(({ type }) => type === 'review.decided')) {
      if (frame.decision !== decision || frame.decided_at !== decided_at) {
        yield { kind: 'delivered differently', what: `the stream told ${review} as ${JSON.stringify(frame)}` };
      }
    }
  }
}

function* faultsOfArrivals(reviews: ReadonlyMap<string, Fact[]>, { arrivals, unsigned }: History): Generator<Fault> {
  for (const id of unsigned) yield { kind: 'delivered differently', what: `webhook ${id} is not signed with the secret` };
  const recorded = [...reviews].flatMap(([review, facts]) =>
    facts[0]?.body.callback_url ? facts.map(({ type, body }) => ({ review, type, body: { ...body, decided_by: body.decided_by } })) : [],
  );
  for (const what of differences(recorded as Parameters<typeof differences>[0], arrivals)) yield { kind: 'delivered differently', what };
  for (const { json, headers } of arrivals) {
    const review = String(json.review_id);
    const facts = reviews.get(review);
    if (headers['x-webhook-event'] !== 'review.decided' || facts === undefined) continue;
    const { decision, decided_at, approved_digest } = standing(review, facts);
    if (json.decision !== decision || json.decided_at !== decided_at || json.approved_digest !== approved_digest) {
      yield {
        kind: 'delivered differently',
        what: `the webhook told ${review} as ${json.decision}, ${json.decided_at}, ${json.approved_digest}`,
      };
    }
  }
}

function* faultsOfViews(reviews: ReadonlyMap<string, Fact[]>, views: History['views']): Generator<Fault> {
  for (const [audience, list] of Object.entries(views)) {
    const listed = new Map(list.map((review) => [review.id, review]));
    if (listed.size !== list.length) yield { kind: 'doubled', what: `the list of the ${audience} has a review twice` };
    for (const [review, facts] of reviews) {
      const stands = standing(review, facts);
      const shown = listed.get(review);
      if (shown === undefined) yield { kind: 'lost', what: `${review} in the list of the ${audience}` };
      else if (Object.entries(stands).some(([name, value]) => shown[name as keyof typeof stands] !== value)) {
        yield {
          kind: 'delivered differently',
          what: `the ${audience} sees ${JSON.stringify(shown)}; the log has ${JSON.stringify(stands)}`,
        };
      }
    }
  }
}

export function* faultsOfAudiences(history: History): Generator<Fault> {
  const reviews = byReview(history.facts);
  yield* faultsOfFrames(reviews, history.frames);
  yield* faultsOfArrivals(reviews, history);
  yield* faultsOfViews(reviews, history.views);
}
