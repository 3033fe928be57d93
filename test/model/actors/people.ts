/** What people do to a review: look, decide what they saw or something else, twice, at the same moment as somebody else; hold and let go. */
import type { PersonActor } from '@countersign/contracts';
import { type ActOnReview, act, archive, assign, claim, release, unarchive } from '@countersign/review';
import type { Chance } from '../world/chance.js';
import type { Desk } from './desk.js';

type Seen = { version: number; digest: string };

const ACTIONS = [
  'approve',
  'approve',
  'approve',
  'reject',
  'reject',
  'request_changes',
  'request_changes',
  'note',
  'cancel_iteration',
  'reject_from_iteration',
];

/** One person's session: `pick` names the review of each move, `begins` is when somebody looks. */
export async function person(
  desk: Desk,
  chance: Chance,
  actor: PersonActor,
  pick: () => string,
  begins: Promise<void>,
  moves: number,
): Promise<void> {
  const screens: Seen[] = [];
  await begins;
  for (let n = 0; n < moves; n++) {
    await desk.think();
    await move(desk, chance, actor, pick(), screens);
  }
}

async function move(desk: Desk, chance: Chance, actor: PersonActor, review: string, screens: Seen[]): Promise<void> {
  const roll = chance.next();
  if (roll < 0.2) {
    const reply = await desk.look(actor, review);
    if (reply.kind === 'ok' && reply.view) screens.push({ version: reply.view.current_version, digest: reply.view.payload_digest });
  } else if (roll < 0.75) {
    const click = clickOf(chance, screens);
    const clicks = chance.yes(0.15) ? 2 : 1;
    await Promise.all(Array.from({ length: clicks }, () => press(desk, actor, review, click)));
  } else if (roll < 0.85) {
    const force = chance.yes(0.2);
    await desk.command(actor, { op: force ? 'force_claim' : 'claim', review }, (state, now) => claim({ actor, force }, state, now));
  } else if (roll < 0.91) {
    await desk.command(actor, { op: 'release', review }, (state, now) => release({ actor }, state, now));
  } else if (roll < 0.95) {
    const hold = chance.pick([null, { ref: 'role:admin', person_id: null }]);
    await desk.command(actor, { op: 'assign', review }, (state, now) => assign({ actor, assignee: 'role:admin', hold }, state, now));
  } else {
    const put = chance.pick([archive, unarchive]);
    await desk.command(actor, { op: put.name, review }, (state, now) => put({ actor }, state, now));
  }
}

/** Mostly with what the person saw last; sometimes with an older screen, or with none. */
function clickOf(chance: Chance, screens: Seen[]): Omit<ActOnReview, 'actor'> {
  const seen = chance.yes(0.7) ? (screens.at(chance.yes(0.8) ? -1 : 0) ?? null) : null;
  const id = chance.pick(ACTIONS);
  return {
    action: { id },
    feedback: chance.yes(0.9) ? 'because' : undefined,
    ...(seen && partOf(chance, seen)),
    ...(chance.yes(0.2) && { edited_payload: chance.yes(0.8) ? { subject: 'edited' } : { n: 99 } }),
  };
}

/** Clients send both; one of them alone must do as well. */
function partOf(chance: Chance, { version, digest: payload_digest }: Seen): Pick<ActOnReview, 'version' | 'payload_digest'> {
  return chance.pick([{ version, payload_digest }, { version, payload_digest }, { version }, { payload_digest }]);
}

async function press(desk: Desk, actor: PersonActor, review: string, command: Omit<ActOnReview, 'actor'>): Promise<void> {
  const action = 'id' in command.action ? command.action.id : command.action.alias;
  const seen = { version: command.version, digest: command.payload_digest };
  await desk.command(actor, { op: 'act', review, action, seen }, (state, now) => act({ ...command, actor }, state, now));
}
