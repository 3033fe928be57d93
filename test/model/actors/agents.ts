/** What agents do: ask, again, with another input; answer a request for changes; run what was approved, twice; and what only people may. */
import type { AgentActor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { act, claim, recordExecution, redeem, resubmit, withdraw } from '@countersign/review';
import type { Chance } from '../world/chance.js';
import { payloadOf } from './cast.js';
import type { Desk } from './desk.js';

const KEYS = ['key a', 'key b'];

/** Asks and looks after its review, and others'. `asked` is told each review that came of it. */
export async function agent(
  desk: Desk,
  chance: Chance,
  actor: AgentActor,
  pick: () => string | null,
  asked: (review: string) => void,
  moves: number,
): Promise<void> {
  for (let n = 0; n < moves; n++) {
    await desk.think();
    const review = pick();
    if (review === null || chance.yes(0.1)) {
      const idempotency_key = chance.yes(0.8) ? chance.pick(KEYS) : undefined;
      const reply = await desk.request(actor, { template: 'mail', payload: payloadOf(chance.yes(0.8) ? 1 : 7), idempotency_key });
      if (reply.kind === 'ok' && reply.view) asked(reply.view.id);
    } else await move(desk, chance, actor, review);
  }
}

async function move(desk: Desk, chance: Chance, actor: AgentActor, review: string): Promise<void> {
  const reply = await desk.look(actor, review);
  const view = reply.kind === 'ok' ? reply.view : null;
  const roll = chance.next();
  if (roll < 0.08) {
    await desk.command(actor, { op: 'withdraw', review }, (state, now) => withdraw({ actor, reason: 'no longer' }, state, now));
  } else if (roll < 0.14) {
    const decide = chance.pick(['act', 'claim']);
    const asked = { op: `agent_${decide}`, review, action: 'approve' };
    if (decide === 'claim') await desk.command(actor, asked, (state, now) => claim({ actor }, state, now));
    else await desk.command(actor, asked, (state, now) => act({ actor, action: { id: 'approve' } }, state, now));
  } else if (view?.status === 'awaiting_iteration' || roll < 0.3) {
    const version = Math.max(1, (view?.current_version ?? 1) + (chance.yes(0.8) ? 1 : chance.int(3) - 1));
    const payload = payloadOf(version);
    const times = chance.yes(0.2) ? 2 : 1;
    const once = () => desk.command(actor, { op: 'resubmit', review }, (state, now) => resubmit({ actor, payload, version }, state, now));
    await Promise.all(Array.from({ length: times }, once));
  } else if (view?.decision || chance.yes(0.2)) {
    if (chance.yes(0.4)) await report(desk, chance, actor, review);
    else await run(desk, chance, actor, review, view);
  }
}

/** Two that run the same at once is what a redemption is for. */
async function run(
  desk: Desk,
  chance: Chance,
  actor: AgentActor,
  review: string,
  view: { approved_value: unknown; approved_digest: string | null } | null,
): Promise<void> {
  const wrong = chance.yes(0.15);
  const value = (wrong ? payloadOf(42) : (view?.approved_value ?? payloadOf(1))) as Record<string, unknown>;
  const presented = chance.yes(0.5) || !view?.approved_digest || wrong ? { value } : { digest: view.approved_digest };
  const once = async () => {
    const redemption_id = newId('rdm');
    await desk.command(actor, { op: 'redeem', review }, (state, now) => redeem({ actor, redemption_id, presented }, state, now));
  };
  await Promise.all(Array.from({ length: chance.yes(0.3) ? 2 : 1 }, once));
}

async function report(desk: Desk, chance: Chance, actor: AgentActor, review: string): Promise<void> {
  const status = chance.pick(['succeeded', 'failed'] as const);
  const execution_id = newId('exe');
  await desk.command(actor, { op: 'execution', review }, (state, now) => recordExecution({ actor, execution_id, status }, state, now));
}
