/** The judge is shown a history with each fault: one that finds nothing anywhere would say the product is well. */
import { describe, expect, it } from '@jest/globals';
import { type Answered, FAULTS, type Fact, type Fault } from './history.js';
import { judge } from './judge.js';
import { soundHistory } from './sound.fixture.js';

type Sound = ReturnType<typeof soundHistory>;

const fact = (history: Sound, stream: string, type: string): Fact =>
  history.facts.find((one) => one.stream === stream && one.type === type) as Fact;
/** Takes it out of the log as though it had never been written: what follows has moved up. */
function without(history: Sound, stream: string, type: string): void {
  const gone = fact(history, stream, type);
  history.facts = history.facts
    .filter((one) => one !== gone)
    .map((one) => ({
      ...one,
      position: one.position > gone.position ? one.position - 1 : one.position,
      version: one.stream === stream && one.version > gone.version ? one.version - 1 : one.version,
    }));
  history.chain = { ...history.chain, last: history.facts.length, count: history.facts.length };
}
/** Puts it at the log's end, as a second process might. */
function again(history: Sound, of: Fact, more: Partial<Fact> = {}): void {
  const version = Math.max(...history.facts.filter(({ stream }) => stream === of.stream).map((one) => one.version)) + 1;
  const position = history.facts.length + 1;
  history.facts = [...history.facts, { ...of, id: `evt_${position}`, version, position, ...more }];
  history.chain = { ...history.chain, last: position, count: position };
}
const answer = (history: Sound, what: Answered['what'], review: string, by = 'agent'): Answered =>
  history.answers.find((one) => one.what === what && one.review === review && one.by === by) as Answered;
const swap = <T>(list: T[], one: number, other: number): T[] => list.with(one, list[other] as T).with(other, list[one] as T);

const SEEDED: [Fault['kind'], string, (history: Sound) => void][] = [
  ['lost', 'a request that was acknowledged', (h) => Object.assign(h, { facts: h.facts.filter(({ stream }) => stream !== 'd') })],
  ['lost', 'a decision that was acknowledged', (h) => without(h, 'a', 'review.decided')],
  ['lost', 'a request for changes', (h) => without(h, 'a', 'review.changes_requested')],
  ['lost', 'a version', (h) => without(h, 'a', 'review.resubmitted')],
  ['lost', 'a withdrawal', (h) => without(h, 'c', 'review.withdrawn')],
  ['lost', 'a redemption', (h) => without(h, 'a', 'review.redeemed')],
  ['lost', 'an end that somebody read', (h) => without(h, 'b', 'review.decided')],
  ['lost', 'a position', (h) => Object.assign(h, { chain: { ...h.chain, count: h.chain.count - 1 } })],
  [
    'lost',
    'an event in the middle of a stream',
    (h) => Object.assign(h, { facts: h.facts.filter(({ type }) => type !== 'review.changes_requested') }),
  ],
  ['lost', 'a review in the list of an audience', (h) => Object.assign(h.views, { reviewer: h.views.reviewer?.slice(1) ?? [] })],
  ['lost', 'frames of a stream that was reset', (h) => h.frames.push({ id: 'r', type: 'reset' })],
  ['doubled', 'a request, as a second review', (h) => again(h, fact(h, 'a', 'review.requested'), { stream: 'e', version: 1 })],
  ['doubled', 'a request, by its answers', (h) => void h.answers.push({ ...answer(h, 'request', 'a'), review: 'b' })],
  ['doubled', 'a version', (h) => again(h, fact(h, 'a', 'review.resubmitted'))],
  ['doubled', 'a redemption', (h) => again(h, fact(h, 'a', 'review.redeemed'), { body: { redemption_id: 'rdm_2' } })],
  ['doubled', 'a request for changes', (h) => again(h, fact(h, 'a', 'review.changes_requested'))],
  ['doubled', 'a frame', (h) => h.frames.push({ ...(h.frames[3] as (typeof h.frames)[number]) })],
  ['doubled', 'a review in a list', (h) => Object.assign(h.views, { agent: [...(h.views.agent ?? []), ...(h.views.agent ?? [])] })],
  [
    'reordered',
    'two events of a stream',
    (h) => Object.assign(h, { facts: h.facts.map((one) => (one.stream !== 'a' ? one : { ...one, position: 20 - one.position })) }),
  ],
  [
    'reordered',
    'something of an open review after its end',
    (h) => again(h, { ...fact(h, 'a', 'review.resubmitted'), body: { version: 3 } }),
  ],
  ['forked', 'the hash chain', (h) => Object.assign(h, { chain: { ...h.chain, valid: false } })],
  ['forked', 'a position taken twice', (h) => again(h, fact(h, 'c', 'review.withdrawn'), { position: 3 })],
  ['forked', 'a version taken twice', (h) => again(h, fact(h, 'd', 'review.expired'), { version: 2 })],
  ['forked', 'an id taken twice', (h) => again(h, fact(h, 'a', 'review.redeemed'), { id: 'evt_1' })],
  ['forked', 'a reader told less than the one before', (h) => void h.answers.push({ ...answer(h, 'read', 'a'), sent: 900, answered: 905 })],
  ['decided twice', 'by a second person', (h) => again(h, fact(h, 'a', 'review.decided'))],
  ['decided twice', 'by a person and the clock', (h) => again(h, fact(h, 'c', 'review.withdrawn'), { type: 'review.expired' })],
  [
    'decided after the deadline',
    'by a person',
    (h) =>
      Object.assign(fact(h, 'b', 'review.decided'), { body: { ...fact(h, 'a', 'review.decided').body }, time: '2026-11-30T09:01:02.000Z' }),
  ],
  ['decided after the deadline', 'by the agent', (h) => Object.assign(fact(h, 'd', 'review.expired'), { type: 'review.withdrawn' })],
  ['delivered differently', 'a webhook that never came', (h) => void h.arrivals.splice(2, 1)],
  ['delivered differently', 'webhooks in another order', (h) => Object.assign(h, { arrivals: swap(h.arrivals, 0, 1) })],
  [
    'delivered differently',
    'a webhook under a second id',
    (h) =>
      void h.arrivals.push({
        ...(h.arrivals[2] as (typeof h.arrivals)[number]),
        headers: { 'x-webhook-id': 'whd_99', 'x-webhook-event': 'review.decided' },
      }),
  ],
  [
    'delivered differently',
    'a webhook again with other bytes',
    (h) => void h.arrivals.push({ ...(h.arrivals[2] as (typeof h.arrivals)[number]), body: Buffer.from('{}') }),
  ],
  [
    'delivered differently',
    'a webhook with another decision',
    (h) => Object.assign((h.arrivals[2] as (typeof h.arrivals)[number]).json, { decision: 'rejected' }),
  ],
  ['delivered differently', 'a webhook without its signature', (h) => h.unsigned.push('whd_1')],
  ['delivered differently', 'a frame that never came', (h) => void h.frames.splice(5, 1)],
  ['delivered differently', 'frames in another order', (h) => Object.assign(h, { frames: swap(h.frames, 5, 6) })],
  ['delivered differently', 'a frame with another decision', (h) => Object.assign(h.frames[9] as object, { decision: 'rejected' })],
  [
    'delivered differently',
    'a list that shows another decision',
    (h) =>
      Object.assign(h.views, {
        reviewer: (h.views.reviewer ?? []).map((one) => (one.id === 'a' ? { ...one, decision: 'rejected' } : one)),
      }),
  ],
  [
    'delivered differently',
    'a list that still shows it open',
    (h) => Object.assign(h.views, { agent: (h.views.agent ?? []).map((one) => (one.id === 'd' ? { ...one, status: 'pending' } : one)) }),
  ],
  [
    'told otherwise',
    'a loser told another outcome',
    (h) => Object.assign(answer(h, 'act', 'a', 'bob@example.org'), { told: { ...soundHistory().views.agent?.[0], decision: 'rejected' } }),
  ],
  ['told otherwise', 'an answer that says the program broke', (h) => Object.assign(answer(h, 'read', 'b'), { status: 500 })],
  ['told otherwise', 'a clock that was early', (h) => Object.assign(fact(h, 'd', 'review.expired'), { time: '2026-11-30T09:00:59.000Z' })],
];

describe('the judge', () => {
  it('finds nothing wrong with a history in which nothing is', () => {
    expect(judge(soundHistory())).toEqual([]);
  });

  it.each(SEEDED)('finds %s: %s', (kind, _, seed) => {
    const history = soundHistory();
    seed(history);
    expect(judge(history).map((fault) => fault.kind)).toContain(kind);
  });

  it('is shown every fault it can name', () => {
    expect(FAULTS.filter((kind) => !SEEDED.some(([seeded]) => seeded === kind))).toEqual([]);
  });
});
