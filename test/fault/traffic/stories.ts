/** What agents and people do with a review, from its request to what becomes of it. */
import { randomUUID } from 'node:crypto';
import { digest } from '@countersign/evidence';
import { DRAFT, type Server } from '../../e2e/server.js';
import type { Chance } from '../../model/world/chance.js';
import type { Recorder } from './recorder.js';

/** Seconds: the shortest window there is. */
export const WINDOW = 60;
export const TIMEOUTS = ['auto_approve', 'auto_reject', 'expire'] as const;
export const templateOf = (action: (typeof TIMEOUTS)[number]): string => `fault-${action.replace('_', '-')}`;

export interface Told {
  server: Server;
  recorder: Recorder;
  chance: Chance;
  /** Where the agent wants its webhooks. */
  callback_url: string;
}

export type Story = (told: Told) => Promise<void>;

async function request({ server, recorder, chance, callback_url }: Told, template = 'email-draft'): Promise<string> {
  const key = `fault-${randomUUID()}`;
  const payload = template === 'email-draft' ? DRAFT : { subject: DRAFT.subject, body: DRAFT.body };
  const body = { template, payload, idempotency_key: key, callback_url, priority: chance.pick(['low', 'normal', 'high'] as const) };
  const ask = () =>
    recorder.ask(server.agent, { by: 'agent', what: 'request', review: null, said: { key }, id: 'createReview', options: { body } });
  // An agent that is in a hurry asks twice.
  const [first] = await Promise.all(chance.yes(0.2) ? [ask(), ask()] : [ask()]);
  const { id } = first.body;
  if (id === undefined) throw new Error(`A request was answered ${first.status}: ${JSON.stringify(first.body)}`);
  return id;
}

const people = ({ server }: Told) => {
  const { email } = server.topology.credentials.reviewer;
  return { ann: { caller: server.admin, by: email }, bob: { caller: server.reviewer, by: 'second@demo.example' } };
};

function act(told: Told, who: 'ann' | 'bob', review: string, action: string, more: { version?: number; [member: string]: unknown } = {}) {
  const { caller, by } = people(told)[who];
  const { version } = more;
  return told.recorder.ask(caller, {
    by,
    what: 'act',
    review,
    said: { action, ...(version === undefined ? {} : { version }) },
    id: 'actOnReview',
    options: { path: { id: review }, body: { action_id: action, ...more } },
  });
}

const agentDoes = (
  { server, recorder }: Told,
  what: 'resubmit' | 'withdraw' | 'redeem' | 'read',
  review: string,
  options: object,
  said = {},
) => {
  const id = ({ resubmit: 'resubmitReview', withdraw: 'withdrawReview', redeem: 'redeemReview', read: 'getReview' } as const)[what];
  return recorder.ask(server.agent, { by: 'agent', what, review, said, id, options: { path: { id: review }, ...options } });
};
const read = (told: Told, review: string, wait?: number) => agentDoes(told, 'read', review, wait === undefined ? {} : { query: { wait } });

async function redeemIfApproved(told: Told, review: string): Promise<void> {
  const { body } = await read(told, review);
  if (body.approved_digest) await agentDoes(told, 'redeem', review, { body: { digest: body.approved_digest } });
}

const approval: Story = async (told) => {
  const review = await request(told);
  const waiting = read(told, review, 5);
  await act(told, 'ann', review, 'approve', { version: 1, payload_digest: digest(DRAFT) });
  await waiting;
  await redeemIfApproved(told, review);
};

const twoPeople: Story = async (told) => {
  const review = await request(told);
  await Promise.all([act(told, 'ann', review, 'approve'), act(told, 'bob', review, 'reject', { feedback: 'No.' }), read(told, review, 5)]);
  await redeemIfApproved(told, review);
};

const edit: Story = async (told) => {
  const review = await request(told);
  await act(told, 'bob', review, 'approve', { edited_payload: { subject: 'Your parcel' } });
  await redeemIfApproved(told, review);
};

const changes: Story = async (told) => {
  const review = await request(told);
  await act(told, 'ann', review, 'request_changes', { version: 1, feedback: 'Name the carrier.' });
  const payload = { ...DRAFT, body: 'With Postal Express.' };
  await agentDoes(told, 'resubmit', review, { body: { payload, version: 2 } }, { version: 2 });
  await Promise.all([act(told, 'ann', review, 'approve'), act(told, 'bob', review, 'approve')]);
  await redeemIfApproved(told, review);
};

const cancelledAgainstAnswered: Story = async (told) => {
  const review = await request(told);
  await act(told, 'bob', review, 'request_changes', { version: 1, feedback: 'Shorter.' });
  const payload = { ...DRAFT, body: 'Short.' };
  await Promise.all([
    agentDoes(told, 'resubmit', review, { body: { payload, version: 2 } }, { version: 2 }),
    agentDoes(told, 'withdraw', review, { body: { reason: 'Sent by hand.' } }),
  ]);
  await read(told, review);
};

const takenBackAgainstAnswered: Story = async (told) => {
  const review = await request(told);
  await act(told, 'ann', review, 'request_changes', { version: 1, feedback: 'Longer.' });
  const payload = { ...DRAFT, body: 'Dear Ann,\n\nlong.' };
  await Promise.all([
    agentDoes(told, 'resubmit', review, { body: { payload, version: 2 } }, { version: 2 }),
    act(told, 'ann', review, 'cancel_iteration'),
  ]);
  await act(told, 'bob', review, 'approve');
  await redeemIfApproved(told, review);
};

const cancelledAgainstDecided: Story = async (told) => {
  const review = await request(told);
  await Promise.all([act(told, 'ann', review, 'approve'), agentDoes(told, 'withdraw', review, { body: {} })]);
  await redeemIfApproved(told, review);
};

/** Whoever is first, somebody or the clock. */
const timedOut: Story = async (told) => {
  const review = await request(told, templateOf(told.chance.pick(TIMEOUTS)));
  if (told.chance.yes(0.5)) await Promise.all([read(told, review, 3), told.chance.yes(0.5) ? act(told, 'bob', review, 'approve') : null]);
  else await read(told, review);
};

/** Stays open to the end. */
const leftAlone: Story = async (told) => {
  await read(told, await request(told));
};

export const STORIES: readonly Story[] = [
  approval,
  twoPeople,
  edit,
  changes,
  cancelledAgainstAnswered,
  takenBackAgainstAnswered,
  cancelledAgainstDecided,
  timedOut,
  timedOut,
  leftAlone,
];
