/**
 * Asks until there is an answer, as every client of this API may: with the same key, the same version, the same click. Keeps what was answered.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationId, Review } from '@countersign/contracts';
import type { Answer, Caller, ErrorAnswer } from '../../e2e/server.js';
import type { Answered, Standing } from '../judge/history.js';

/** A client waits this long before it asks again. */
const PAUSE_MS = 60;
const PATIENCE_MS = 150_000;

type Body = Partial<Review> & Partial<ErrorAnswer> & { redemption?: unknown };
type Asked<Id extends OperationId> = Pick<Answered, 'by' | 'what' | 'review'> &
  Partial<Pick<Answered, 'said'>> & { id: Id; options: Parameters<Caller['try']>[1] };

/** An answer that asks to come again; without a status where there was none at all, because the connection broke. */
export interface Refusal {
  status: number | null;
  retryAfter: string | null;
  why: string;
}

export class Recorder {
  readonly answers: Answered[] = [];
  /** Questions that got no answer: what the faults cost the callers. */
  readonly refusals: Refusal[] = [];
  readonly #waiting: { count: number; go: () => void }[] = [];

  /** @throws {Error} for an answer no document names, and when there is none for minutes. */
  async ask<Id extends OperationId>(caller: Caller, { id, options, ...asked }: Asked<Id>): Promise<Answer<Body>> {
    let why: Refusal = { status: null, retryAfter: null, why: '' };
    for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(PAUSE_MS)) {
      const sent = performance.now();
      try {
        const answer = (await caller.try(id, options as never)) as unknown as Answer<Body>;
        if (answer.status !== 429 && ![502, 503, 504].includes(answer.status)) return this.#keep(asked, sent, answer);
        why = { status: answer.status, retryAfter: answer.headers.get('retry-after'), why: JSON.stringify(answer.body) };
      } catch (error) {
        if (!isNoAnswer(error as Error)) throw error;
        why = { status: null, retryAfter: null, why: String((error as Error).cause ?? error) };
      }
      this.refusals.push(why);
    }
    throw new Error(`${id} was not answered for ${PATIENCE_MS / 1000} s; the last was ${JSON.stringify(why)}`);
  }

  get unanswered(): number {
    return this.refusals.length;
  }

  /** Resolves once that many more answers have come. */
  moves(count: number): Promise<void> {
    return new Promise((go) => this.#waiting.push({ count: this.answers.length + count, go }));
  }

  #keep(asked: Omit<Asked<OperationId>, 'id' | 'options'>, sent: number, answer: Answer<Body>): Answer<Body> {
    const { status, body } = answer;
    this.answers.push({
      said: {},
      ...asked,
      sent,
      answered: performance.now(),
      review: asked.review ?? (status < 300 ? (body.id ?? null) : null),
      status,
      code: body.error?.code ?? null,
      told: standingOf(body.error ? body.error.review : body),
      redemption: redemptionOf(asked.what, answer),
    });
    for (const waiting of this.#waiting.filter(({ count }) => count <= this.answers.length)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.go();
    }
    return answer;
  }
}

/** The connection broke, or whoever stands before the gateway found none; anything else is an answer, and wrong. */
function isNoAnswer(error: Error): boolean {
  return error.name === 'TypeError' || error.name === 'SyntaxError' || / answered 50[234]\b/.test(error.message);
}

/** Of what is a review, or says how one stands. */
export function standingOf(body: object | null | undefined): Standing | null {
  const review = body as Partial<Standing> | null | undefined;
  if (review?.id === undefined || review.current_version === undefined) return null;
  const { id, status = '', decision = null, decided_by = null, decided_at = null, current_version } = review;
  return { id, status, decision, decided_by, decided_at, current_version };
}

function redemptionOf(what: Answered['what'], { status, body }: Answer<Body>): string | null {
  if (what !== 'redeem') return null;
  const told = status < 300 ? body : (body.error?.redemption as { id?: string } | undefined);
  return told?.id ?? null;
}
