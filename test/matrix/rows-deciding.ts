/** What only people do to a review (decision 7), and tidying up. */
import { digest } from '@countersign/evidence';
import { DRAFT } from '../e2e/server.js';
import { emailOf } from './actors.js';
import type { Attempt } from './attempt.js';
import type { Row, Rows } from './row.js';
import type { Stage } from './stage.js';

type State = 'pending' | Shown | 'held' | 'awaiting' | 'approved' | 'rejected' | 'withdrawn' | 'archived' | 'autoApproved';

/** What a key asks that the admin was shown. */
type Shown = 'unowned' | 'madeForAnother' | 'rotatedForAnother';

const on =
  (state: State, rest: Omit<Attempt, 'path' | 'untouched'> = {}) =>
  async (stage: Stage): Promise<Attempt> => {
    const { id } = await stage[state]();
    return { path: { id }, untouched: { review: id }, ...rest };
  };

const human = {
  access: 'human',
  scope: 'reviews:decide',
  ok: '200',
  stranger: '404 review_not_found',
  limited: '403 human_actor_required',
} as const;
const tidy = { ...human, access: 'either', limited: '404 review_not_found' } as const;

/** Whoever answers for what was asked, and whoever it was asked for (decision 30). */
const NOT_THEIRS = {
  'owner of the key': '403 requester_cannot_approve',
  'person it was asked for': '403 requester_cannot_approve',
} as const;

/** Nor whoever was shown the key, whoever owns it. */
const NOT_THE_ADMINS = { admin: '403 requester_cannot_approve' } as const;
const NOT_THE_OWNERS = { ...NOT_THE_ADMINS, 'owner of the key': '403 requester_cannot_approve' } as const;

/** The decision is the person's who is signed in, whatever the body says. */
const decidedBy =
  (decision: string): Row['proves'] =>
  ({ status, decision: made, decided_by, decided_by_verified, decided_by_auth }, actor) => [
    { status, decision: made, decided_by, decided_by_verified, method: (decided_by_auth as { method: string } | null)?.method },
    { status: 'decided', decision, decided_by: emailOf(actor), decided_by_verified: true, method: 'password' },
  ];

const SOMEBODY_ELSE = { reviewer: 'somebody@else.example', decided_by: 'somebody@else.example', by: { kind: 'person' } };

const act = (tries: string, state: State, body: Record<string, unknown>, rest: Partial<Row> = {}): Row => ({
  ...human,
  tries,
  attempt: on(state, { body }),
  ...rest,
});

const approve = { action_id: 'approve' };
const rejection = { action_id: 'reject', feedback: 'No.' };
const settled = { ok: '409 review_already_decided' };

export const DECIDING_ROWS = {
  actOnReview: [
    act('to approve', 'pending', { ...approve, ...SOMEBODY_ELSE }, { cells: NOT_THEIRS, proves: decidedBy('approved') }),
    act('to approve what a key without owner asks', 'unowned', approve, { cells: NOT_THE_ADMINS }),
    act('to approve what a key asks that an admin made for another', 'madeForAnother', approve, { cells: NOT_THE_OWNERS }),
    act('to approve what a key asks that an admin rotated', 'rotatedForAnother', approve, { cells: NOT_THE_OWNERS }),
    act(
      'to approve an edit',
      'pending',
      { ...approve, edited_payload: { subject: 'Another' } },
      { cells: NOT_THEIRS, proves: decidedBy('edited') },
    ),
    act('to reject', 'pending', { ...rejection, ...SOMEBODY_ELSE }, { proves: decidedBy('rejected') }),
    act('to request changes', 'pending', { action_id: 'request_changes', feedback: 'Shorter.' }),
    act('an action of the template', 'pending', { action_id: 'ping' }),
    act('an action nobody knows', 'pending', { action_id: 'launch' }, { ok: '400 action.unknown_action' }),
    act('to approve what somebody else holds', 'held', approve, { ok: '409 review_already_held' }),
    act('to approve what awaits changes', 'awaiting', approve, { ok: '409 review_awaiting_changes', cells: NOT_THEIRS }),
    act('to reject what awaits changes', 'awaiting', { action_id: 'reject_from_iteration' }, { proves: decidedBy('rejected') }),
    act('to take the request for changes back', 'awaiting', { action_id: 'cancel_iteration' }),
    act('to approve what was rejected', 'rejected', approve, { ...settled, cells: NOT_THEIRS }),
    act('to reject what was approved', 'approved', rejection, settled),
    act('to reject what its template approved', 'autoApproved', rejection, settled),
    act('to approve what was withdrawn', 'withdrawn', approve, { ok: '409 review_expired', cells: NOT_THEIRS }),
    act('to approve what was put away', 'archived', approve, { ok: '409 action.status_not_allowed', cells: NOT_THEIRS }),
    {
      ...human,
      tries: 'to approve what cannot be undone, unseen',
      cells: NOT_THEIRS,
      ok: '400 version_required',
      attempt: async (stage) => {
        const { id } = await stage.pending({ irreversibility: 'irreversible' });
        return { path: { id }, body: approve, untouched: { review: id } };
      },
    },
    {
      ...human,
      tries: 'to approve what cannot be undone, as it was seen',
      cells: NOT_THEIRS,
      proves: decidedBy('approved'),
      attempt: async (stage) => {
        const { id } = await stage.pending({ irreversibility: 'irreversible' });
        return { path: { id }, body: { ...approve, version: 1, payload_digest: digest(DRAFT) }, untouched: { review: id } };
      },
    },
    {
      ...human,
      tries: 'to approve what does not exist',
      ok: '404 review_not_found',
      attempt: () => ({ path: { id: 'rev_01k00000000000000000000000' }, body: approve }),
    },
  ],
  decideReview: [
    act('to approve', 'pending', { decision: 'approved', ...SOMEBODY_ELSE }, { cells: NOT_THEIRS, proves: decidedBy('approved') }),
    act(
      'to approve an edit',
      'pending',
      { decision: 'edited', edited_payload: { subject: 'Another' } },
      { cells: NOT_THEIRS, proves: decidedBy('edited') },
    ),
    act('to reject', 'pending', { decision: 'rejected' }, { proves: decidedBy('rejected') }),
    act('to approve what somebody else holds', 'held', { decision: 'approved' }, { ok: '409 review_already_held' }),
    act('to approve what was rejected', 'rejected', { decision: 'approved' }, { ...settled, cells: NOT_THEIRS }),
    act('to veto', 'pending', { decision: 'vetoed' }, { ok: '400 feature_not_available', stranger: '400 feature_not_available' }),
  ],
  retryReview: [
    act('to request changes', 'pending', { feedback: 'Shorter.' }),
    act('to request changes of what is decided', 'approved', { feedback: 'Shorter.' }, settled),
  ],
  cancelReviewRequest: [
    act('to take the request for changes back', 'awaiting', {}),
    act('to take back what nobody asked for', 'pending', {}, { ok: '409 action.status_not_allowed' }),
  ],
  saveReviewDraft: [
    act('to keep unsent edits', 'pending', { draft_payload: { subject: 'Half' } }),
    act('to keep unsent edits of what somebody else holds', 'held', { draft_payload: {} }, { ok: '409 review_already_held' }),
    act('to keep unsent edits of what is decided', 'approved', { draft_payload: {} }, { ok: '409 not_pending' }),
  ],
  discardReviewDraft: [
    { ...human, tries: 'to discard unsent edits', attempt: on('pending') },
    { ...human, tries: 'to discard unsent edits of what somebody else holds', attempt: on('held'), ok: '409 review_already_held' },
  ],
  claimReview: [
    { ...human, scope: 'reviews:claim', tries: 'to hold it', attempt: on('pending') },
    { ...human, scope: 'reviews:claim', tries: 'to hold what somebody holds', attempt: on('held'), ok: '409 review_already_held' },
    {
      ...human,
      scope: 'reviews:claim',
      tries: 'to take it from its holder',
      attempt: on('held', { query: { force: 'true' } }),
      ok: '403 forbidden',
      cells: { admin: '200' },
    },
    { ...human, scope: 'reviews:claim', tries: 'to hold what is decided', attempt: on('approved'), ...settled },
  ],
  releaseReview: [
    { ...human, scope: 'reviews:release', tries: 'to let go of what nobody holds', attempt: on('pending') },
    {
      ...human,
      scope: 'reviews:release',
      tries: 'to let go of what somebody else holds',
      attempt: on('held'),
      ok: '403 not_holder',
      cells: { admin: '200' },
    },
  ],
  assignReview: [
    act('to give it to a person', 'pending', { assignee: 'reviewer2@demo.example', hold: true }, { scope: 'reviews:assign' }),
    act('to give it to nobody', 'pending', { assignee: 'nobody@demo.example' }, { scope: 'reviews:assign', ok: '400 invalid_assignee' }),
    act(
      'to give it to a stranger',
      'pending',
      { assignee: 'admin@strangers.example' },
      { scope: 'reviews:assign', ok: '400 invalid_assignee' },
    ),
  ],
  archiveReview: [
    { ...tidy, tries: 'to put away what is decided', attempt: on('approved') },
    { ...tidy, tries: 'to put away what is open', attempt: on('pending'), ok: '409 review_not_settled' },
  ],
  unarchiveReview: [
    { ...tidy, tries: 'to bring back what was put away', attempt: on('archived') },
    { ...tidy, tries: 'to bring back what was not', attempt: on('pending'), ok: '409 review_not_archived' },
  ],
  deleteReview: [
    { ...tidy, tries: 'to delete what is decided', attempt: on('approved') },
    { ...tidy, tries: 'to delete what is open', attempt: on('pending'), ok: '409 review_not_settled' },
  ],
} as const satisfies Partial<Rows>;
