/** What agents submit, and reading it. */
import { digest } from '@countersign/evidence';
import { DRAFT } from '../e2e/server.js';
import type { Attempt } from './attempt.js';
import type { Row, Rows } from './row.js';
import type { SelfDeciding, Stage } from './stage.js';

type State = 'pending' | 'awaiting' | 'approved' | 'rejected' | 'withdrawn' | 'autoApproved';

const on =
  (state: State, rest: Omit<Attempt, 'path' | 'untouched'> = {}) =>
  async (stage: Stage): Promise<Attempt> => {
    const { id } = await stage[state]();
    return { path: { id }, untouched: { review: id }, ...rest };
  };

const submitting = {
  access: 'submitting',
  scope: 'reviews:create',
  ok: '200',
  stranger: '404 review_not_found',
  limited: '404 review_not_found',
} as const;
const reading = { ...submitting, access: 'either', scope: 'reviews:read' } as const;

const asking = { ...submitting, ok: '201', stranger: '404 template_not_found', limited: '404 template_not_found' } as const;
const ask =
  (kind: 'plain' | SelfDeciding, more: Record<string, unknown> = {}) =>
  async (stage: Stage): Promise<Attempt> => ({ body: { template: (await stage.template(kind)).id, payload: DRAFT, ...more } });

const byTheClock = { timeout: { seconds: 3_600, action: 'auto_approve' } };
/** Members a review has and a request has no word for. */
const ALREADY_DECIDED = {
  status: 'decided',
  decision: 'approved',
  decided_by: 'owner@demo.example',
  approved_value: DRAFT,
  auto_approve: true,
};
const isPending: Row['proves'] = ({ status, decision, decided_by }) => [
  { status, decision, decided_by },
  { status: 'pending', decision: null, decided_by: null },
];

export const ASKING_ROWS = {
  createReview: [
    { ...asking, tries: 'to ask', attempt: ask('plain'), proves: isPending },
    { ...asking, tries: 'to ask for what says it is decided', attempt: ask('plain', ALREADY_DECIDED), proves: isPending },
    { ...asking, tries: 'to ask for an approval by the clock', attempt: ask('plain', byTheClock), ok: '403 timeout_action_not_allowed' },
    {
      ...asking,
      tries: 'to ask for one where requests may',
      attempt: ask('lets requests approve by the clock', byTheClock),
      proves: isPending,
    },
    { ...asking, tries: 'to ask of a template that approves by the clock', attempt: ask('approves by the clock'), proves: isPending },
    {
      ...asking,
      tries: 'to ask of a template that approves by itself',
      attempt: ask('approves by itself'),
      proves: ({ decision, decided_by, auto_approved }) => [
        { decision, decided_by, auto_approved },
        { decision: 'approved', decided_by: 'system/auto-approve', auto_approved: true },
      ],
    },
    {
      ...asking,
      tries: 'to ask of what does not exist',
      attempt: () => ({ body: { template: 'nothing', payload: {} } }),
      ok: '404 template_not_found',
    },
    {
      ...asking,
      tries: 'to ask of a paused template',
      attempt: async (stage) => ({ body: { template: (await stage.paused()).id, payload: DRAFT } }),
      ok: '400 template_inactive',
    },
  ],
  listReviews: [{ ...reading, tries: 'to list', attempt: () => ({ query: { limit: '100' } }), stranger: '200', limited: '200' }],
  getReview: [
    { ...reading, tries: 'to read', attempt: on('pending') },
    { ...reading, tries: 'to wait for one that is settled', attempt: on('approved', { query: { wait: '60' } }) },
  ],
  listReviewVersions: [{ ...reading, tries: 'to read what was sent', attempt: on('pending') }],
  resubmitReview: [
    {
      ...submitting,
      tries: 'to send the next version',
      attempt: on('awaiting', { body: { payload: DRAFT, version: 2 } }),
      proves: isPending,
    },
    {
      ...submitting,
      tries: 'to send one nobody asked for',
      attempt: on('pending', { body: { payload: { ...DRAFT, to: 'eve@evil.example' }, version: 2 } }),
      ok: '409 not_awaiting_changes',
    },
    {
      ...submitting,
      tries: 'to change what was approved',
      attempt: on('approved', { body: { payload: { ...DRAFT, to: 'eve@evil.example' }, version: 2 } }),
      ok: '409 review_already_decided',
    },
  ],
  withdrawReview: [
    { ...submitting, tries: 'to take it back', attempt: on('pending') },
    { ...submitting, tries: 'to take back what is decided', attempt: on('rejected'), ok: '409 review_already_decided' },
  ],
  redeemReview: [
    { ...submitting, tries: 'to redeem what was approved', attempt: on('approved', { body: { value: DRAFT } }) },
    {
      ...submitting,
      tries: 'to redeem another value',
      attempt: on('approved', { body: { digest: digest({}) } }),
      ok: '409 digest_mismatch',
    },
    { ...submitting, tries: 'to redeem what nobody decided', attempt: on('pending', { body: { value: DRAFT } }), ok: '409 not_approved' },
    { ...submitting, tries: 'to redeem what was rejected', attempt: on('rejected', { body: { value: DRAFT } }), ok: '409 not_approved' },
    { ...submitting, tries: 'to redeem what was withdrawn', attempt: on('withdrawn', { body: { value: DRAFT } }), ok: '409 not_approved' },
  ],
  recordExecution: [
    { ...submitting, tries: 'to report that it ran', attempt: on('autoApproved', { body: { status: 'succeeded' } }), ok: '201' },
    {
      ...submitting,
      tries: 'to report that what nobody decided ran',
      attempt: on('pending', { body: { status: 'succeeded' } }),
      ok: '409 not_approved',
    },
  ],
} as const satisfies Partial<Rows>;
