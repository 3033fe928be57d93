/** A history with nothing wrong in it: four reviews, each ended in its own way, and everybody told. */
import type { Answered, Fact, FactBody, History, SeenFrame, Standing } from './history.js';

const START = Date.parse('2026-11-30T09:00:00.000Z');
const at = (second: number): string => new Date(START + second * 1000).toISOString();
const ANN = { kind: 'person', id: 'per_1', email: 'ann@example.org' };

const asked = (key: string, more: FactBody = {}): FactBody => ({
  idempotency_key: key,
  callback_url: 'http://agent',
  priority: 'normal',
  ...more,
});
const window = (action: string) => ({ timeout: { seconds: 60, action } });
const approved: FactBody = {
  decision: 'approved',
  trigger: 'action',
  decided_by: ANN,
  action: { id: 'approve' },
  approved_digest: 'sha256:2',
};
const rejected: FactBody = {
  decision: 'rejected',
  trigger: 'timeout',
  decided_by: { kind: 'system', id: 'system:timeout' },
  after_seconds: 60,
};
const changes: FactBody = { by: ANN, action: { id: 'request_changes' }, shown: { version: 1 } };

/** second, review, type, body. */
const TOLD: [number, string, string, FactBody][] = [
  [1, 'a', 'review.requested', asked('ka')],
  [2, 'b', 'review.requested', asked('kb', window('auto_reject'))],
  [3, 'c', 'review.requested', asked('kc', { priority: 'high' })],
  [4, 'd', 'review.requested', asked('kd', window('expire'))],
  [5, 'a', 'review.changes_requested', changes],
  [6, 'a', 'review.resubmitted', { version: 2 }],
  [7, 'a', 'review.decided', approved],
  [8, 'a', 'review.redeemed', { redemption_id: 'rdm_1' }],
  [9, 'c', 'review.withdrawn', {}],
  [62, 'b', 'review.decided', rejected],
  [70, 'd', 'review.expired', {}],
];

const ENDS: Record<string, Standing & { approved_digest: string | null }> = {
  a: {
    id: 'a',
    status: 'decided',
    decision: 'approved',
    decided_by: ANN.email,
    decided_at: at(7),
    current_version: 2,
    approved_digest: 'sha256:2',
  },
  b: {
    id: 'b',
    status: 'decided',
    decision: 'rejected',
    decided_by: 'system:timeout',
    decided_at: at(62),
    current_version: 1,
    approved_digest: null,
  },
  c: { id: 'c', status: 'expired', decision: null, decided_by: null, decided_at: null, current_version: 1, approved_digest: null },
  d: { id: 'd', status: 'expired', decision: null, decided_by: null, decided_at: null, current_version: 1, approved_digest: null },
};
const open = (id: string, current_version = 1): Standing => ({
  id,
  status: 'pending',
  decision: null,
  decided_by: null,
  decided_at: null,
  current_version,
});

function facts(): Fact[] {
  const versions = new Map<string, number>();
  return TOLD.map(([second, stream, type, body], n) => {
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    return { position: n + 1, stream, version, id: `evt_${n + 1}`, type, time: at(second), body };
  });
}

const FRAMES: [string, string][] = [
  ['a', 'review.created'],
  ['b', 'review.created'],
  ['c', 'review.created'],
  ['c', 'review.urgent'],
  ['d', 'review.created'],
  ['a', 'review.action_taken'],
  ['a', 'review.retried'],
  ['a', 'review.resubmitted'],
  ['a', 'review.action_taken'],
  ['a', 'review.decided'],
  ['a', 'review.redeemed'],
  ['c', 'review.expired'],
  ['b', 'review.decided'],
  ['d', 'review.expired'],
];
const WEBHOOKS: [string, string][] = [
  ['a', 'review.retried'],
  ['a', 'review.action_taken'],
  ['a', 'review.decided'],
  ['a', 'review.redeemed'],
  ['c', 'review.expired'],
  ['b', 'review.decided'],
  ['d', 'review.expired'],
];

function frame([review_id, type]: [string, string], n: number): SeenFrame {
  const { decision, decided_at } = ENDS[review_id] as Standing;
  return {
    id: String(n),
    type,
    review_id,
    ...(type === 'review.decided' ? { decision: decision as string, decided_at: decided_at as string } : {}),
  };
}

function arrival([review_id, event]: [string, string], n: number): History['arrivals'][number] {
  const { decision, decided_at, approved_digest } = ENDS[review_id] as (typeof ENDS)[string];
  const json = { review_id, ...(event === 'review.decided' ? { decision, decided_at, approved_digest } : {}) };
  return { headers: { 'x-webhook-id': `whd_${n}`, 'x-webhook-event': event }, body: Buffer.from(JSON.stringify(json)), json };
}

type Said = Pick<Answered, 'by' | 'what' | 'review' | 'told'> & Partial<Answered>;
function answers(): Answered[] {
  const all: Said[] = [
    ...['a', 'b', 'c', 'd'].map(
      (id): Said => ({ by: 'agent', what: 'request', review: id, said: { key: `k${id}` }, status: 201, told: open(id) }),
    ),
    {
      by: ANN.email,
      what: 'act',
      review: 'a',
      said: { action: 'request_changes', version: 1 },
      told: { ...open('a'), status: 'awaiting_iteration' },
    },
    { by: 'agent', what: 'resubmit', review: 'a', said: { version: 2 }, told: open('a', 2) },
    { by: 'agent', what: 'read', review: 'a', told: open('a', 2) },
    { by: ANN.email, what: 'act', review: 'a', said: { action: 'approve' }, told: ENDS.a as Standing },
    {
      by: 'bob@example.org',
      what: 'act',
      review: 'a',
      said: { action: 'reject' },
      status: 409,
      code: 'review_already_decided',
      told: ENDS.a as Standing,
    },
    { by: 'agent', what: 'redeem', review: 'a', told: null, redemption: 'rdm_1' },
    { by: 'agent', what: 'withdraw', review: 'c', told: ENDS.c as Standing },
    { by: 'agent', what: 'read', review: 'b', told: ENDS.b as Standing },
  ];
  return all.map((one, n) => ({ sent: 10 * n, answered: 10 * n + 5, said: {}, status: 200, code: null, redemption: null, ...one }));
}

/** Its own copy for each caller. */
export function soundHistory() {
  return {
    facts: facts(),
    chain: { valid: true, first: 1, last: TOLD.length, count: TOLD.length },
    answers: answers(),
    arrivals: WEBHOOKS.map(arrival),
    unsigned: [] as string[],
    frames: FRAMES.map(frame),
    views: { agent: Object.values(ENDS), reviewer: Object.values(ENDS) } as Record<string, (typeof ENDS)[string][]>,
  } satisfies History;
}
