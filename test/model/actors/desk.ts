/** How agents and people ask: by the functions behind the routes, again where the answer was lost; what they asked and heard is kept. */
import type { Actor, AgentActor, ReviewCreate } from '@countersign/contracts';
import { isPassing, UnknownEventError } from '@countersign/event-store';
import { requestReview } from '@countersign/intake';
import {
  type HandledReview,
  type Judged,
  loadReview,
  may,
  onReview,
  type RequestedReview,
  type ReviewState,
  toWire,
} from '@countersign/review';
import type { History, Reply, Said } from '../history.js';
import { type Member, SILENT } from '../world/machine.js';

const TRIES = 3;

export interface Asked extends Partial<Said['asked']> {
  op: string;
  review: string | null;
}

const nameOf = (actor: Actor): string => (actor.kind === 'anonymous' ? 'nobody' : actor.name);

function replyOf(handled: HandledReview): Reply {
  if (handled.refusal) return { kind: 'refused', code: handled.refusal.code, extra: handled.refusal.extra ?? {} };
  const view = toWire(handled.state as RequestedReview, handled.now);
  return { kind: 'ok', view, replayed: handled.events.length === 0, ...(view.redemption && { redemption: view.redemption }) };
}

export class Desk {
  constructor(
    readonly member: Member,
    private readonly history: History,
  ) {}

  get step(): number {
    return this.member.world.steps;
  }

  /** Somebody's turn comes when it comes. */
  think(): Promise<void> {
    return new Promise((resolve) => this.member.world.step(this.member, 'thinks', resolve));
  }

  command(actor: Actor, asked: Asked, decide: (state: ReviewState, now: string) => Judged): Promise<Reply> {
    return this.ask(actor, asked, async (request_id) =>
      replyOf(await onReview(this.member.store, { review_id: asked.review as string, actor, request_id, decide })),
    );
  }

  request(actor: AgentActor, body: ReviewCreate): Promise<Reply> {
    const { store } = this.member;
    const asked = { op: 'request', review: null, key: body.idempotency_key, input: JSON.stringify(body.payload) };
    const elsewhere = () => Promise.reject(new Error('No other service takes part.'));
    return this.ask(actor, asked, async (request_id) =>
      replyOf(
        await requestReview(
          { store, client: { call: elsewhere }, egress: { checkCallbackUrl: async () => null }, logger: SILENT } as never,
          { actor, request_id },
          body,
        ),
      ),
    );
  }

  /** As `GET /reviews/:id` answers. */
  look(actor: Actor, review: string): Promise<Reply> {
    return this.ask(actor, { op: 'look', review }, async () => {
      const { state, now } = await loadReview(this.member.store, review);
      const permission = may(actor, 'read', state);
      if (!permission.ok) return { kind: 'refused', code: permission.refusal.code, extra: {} };
      return { kind: 'ok', view: toWire(state as RequestedReview, now), replayed: false };
    });
  }

  async ask(actor: Actor, { op, review, ...asked }: Asked, work: (request_id: string) => Promise<Reply>): Promise<Reply> {
    const request_id = `req_${this.history.said.length}`;
    const kind = op === 'slug' ? 'slug' : actor.kind === 'person' ? 'person' : 'agent';
    const person_id = actor.kind === 'person' ? actor.person_id : null;
    const reply: Reply = { kind: 'unknown', error: 'never answered' };
    const said: Said = {
      request_id,
      actor: nameOf(actor),
      kind,
      person_id,
      op,
      review,
      asked,
      began: this.step,
      ended: 0,
      reply,
      earlier: [],
    };
    this.history.said.push(said);
    for (let tries = 1; ; tries++) {
      said.reply = await work(request_id).catch(failure);
      said.ended = this.step;
      this.member.world.trace?.push(
        `    ${said.actor} ${op} ${JSON.stringify(asked)} ${review ?? ''} → ${JSON.stringify(brief(said.reply))}`,
      );
      if (said.reply.kind !== 'unknown' || tries === TRIES) return said.reply;
      said.earlier.push(said.reply);
      await this.think();
    }
  }
}

const brief = (reply: Reply): unknown =>
  reply.kind === 'ok' ? { ...reply, view: reply.view && [reply.view.status, reply.view.decision] } : reply;

function failure(error: unknown): Reply {
  if (error instanceof UnknownEventError) return { kind: 'unavailable' };
  const { name, message, stack } = error as Error;
  return isPassing(error) ? { kind: 'unknown', error: name } : { kind: 'broken', error: `${name}: ${message}\n${stack}` };
}
