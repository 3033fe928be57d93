/**
 * What contestants do, by the commands the services do it with: loaded, judged and appended, on a store of their own. Either contestant may be in
 * another process, so what they say of it is data.
 */
import type { Actor, ReviewEvent } from '@countersign/contracts';
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { createPool } from '@countersign/database';
import { type EventStore, handle, newId, PostgresEventStore } from '@countersign/event-store';
import {
  act,
  elapse,
  onReview,
  type ReviewState,
  type ReviewSummary,
  request,
  resubmit,
  reviewFold,
  reviewMeta,
  summaryOf,
  withdraw,
} from '@countersign/review';
import { type Asked, agent, ann, bob, PAYLOAD, PROJECT, template } from '@countersign/review/fixture';

export type Move = 'approve' | 'reject' | 'edit' | 'request_changes' | 'cancel_iteration' | 'resubmit' | 'withdraw' | 'clock';

export interface Ended {
  /** Events this move appended. */
  appended: string[];
  /** Code of the refusal, and how it said that the review stands. */
  code: string | null;
  told: ReviewSummary | null;
  /** The review as the contestant has it afterwards. */
  stands: ReviewSummary;
}

const AGAIN = { ...PAYLOAD, subject: 'Hello again' };
const PRESSED = {
  approve: { actor: ann, action: { id: 'approve' } },
  reject: { actor: bob, action: { id: 'reject' }, feedback: 'No.' },
  edit: { actor: bob, action: { id: 'approve' }, edited_payload: { subject: 'Hello all' } },
  request_changes: { actor: ann, action: { id: 'request_changes' }, feedback: 'Say hello again.' },
  cancel_iteration: { actor: ann, action: { id: 'cancel_iteration' } },
} as const;

function commandOf(move: Move): { actor: Actor | null; decide: (state: ReviewState, now: string) => ReturnType<typeof act> } {
  switch (move) {
    case 'clock':
      return { actor: null, decide: (state, now) => elapse('timeout', state, now) };
    case 'resubmit':
      return { actor: agent, decide: (state, now) => resubmit({ actor: agent, payload: AGAIN, version: 2 }, state, now) };
    case 'withdraw':
      return { actor: agent, decide: (state, now) => withdraw({ actor: agent }, state, now) };
    default: {
      const pressed = PRESSED[move];
      return { actor: pressed.actor, decide: (state, now) => act(pressed, state, now) };
    }
  }
}

export class Contestant {
  readonly store: EventStore & { close(): Promise<void> };
  readonly #pool: ReturnType<typeof createPool>;

  constructor(connectionString: string) {
    this.#pool = createPool({ connectionString, role: 'countersign_app', max: 8, applicationName: 'a contestant' });
    this.store = new PostgresEventStore({ pool: this.#pool, writer: 'test', categories: CATEGORY_PREFIXES, validate: validateEvent });
  }

  async ask({ config, body }: Asked = {}): Promise<string> {
    const review_id = newId('rev');
    const named = template(config);
    await handle<ReviewState, ReviewEvent>(this.store, {
      stream: review_id,
      project: PROJECT,
      fold: reviewFold,
      meta: reviewMeta({ actor: agent }),
      decide: (state, now) =>
        request(
          { review_id, actor: agent, template: named, body: { template: named.slug, payload: PAYLOAD, ...body }, on_behalf_of: null },
          state,
          now,
        ),
    });
    return review_id;
  }

  /** One move; the clock's is made again until the review has ended, as its due row fires again. */
  async move(review_id: string, move: Move): Promise<Ended> {
    for (;;) {
      const { state, events, refusal } = await onReview(this.store, { review_id, ...commandOf(move) });
      if (state.status === 'none') throw new Error(`${review_id} does not exist.`);
      if (move === 'clock' && !('outcome' in state)) continue;
      return {
        appended: events.map(({ type }) => type),
        code: refusal?.code ?? null,
        told: (refusal?.extra as { review?: ReviewSummary } | undefined)?.review ?? null,
        stands: summaryOf(state),
      };
    }
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.#pool.end();
  }
}
