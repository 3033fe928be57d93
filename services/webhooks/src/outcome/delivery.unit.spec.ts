import type { DeliveryEvent } from '@countersign/contracts';
import { newId, REDACTED, UnknownEventError } from '@countersign/event-store';
import { given } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import { deliveryFold, type Outcome, recordOutcome, replay } from './delivery.js';

const ABOUT = { review_id: newId('rev'), event_type: 'review.decided' };
const BY = { kind: 'agent' as const, key_id: newId('key'), key_prefix: 'gwk_00000001' };
const begun = given({ fold: deliveryFold, stream: newId('whd'), project: newId('prj') });
const arrived = (replays = 0): Outcome => ({ type: 'delivery.succeeded', body: { ...ABOUT, attempts: 1, replays, status_code: 200 } });
const dead = (replays = 0): Outcome => ({
  type: 'delivery.dead_lettered',
  body: { ...ABOUT, attempts: 9, replays, reason: 'attempts_exhausted', status_code: null },
});
const again = (state: Parameters<typeof replay>[0]) => replay(state, { ...ABOUT, by: BY });
const record = (outcome: Outcome) => (state: Parameters<typeof recordOutcome>[0]) => recordOutcome(state, outcome);

describe('a delivery in the log', () => {
  it.each([arrived(), dead()])('records how it ended, once ($type)', (outcome) => {
    const ended = begun.when(record(outcome));
    expect(ended.types).toEqual([outcome.type]);
    expect(ended.next.when(record(outcome)).types).toEqual([]);
    expect(ended.next.when(record(arrived())).types).toEqual([]);
  });

  it('is known by its types after an erasure, and stops at a type of a newer release (K4, K10)', () => {
    const { state, events } = begun.when(record(dead())).next;
    const later = (type: string) => ({ ...events[0], type, body: null, redacted: true }) as never;
    expect(deliveryFold.evolve(state, later(REDACTED))).toEqual(state);
    expect(() => deliveryFold.evolve(state, later('delivery.teleported'))).toThrow(UnknownEventError);
  });

  it('is sent again after it was dead-lettered, and its next end is recorded as that of the replay', () => {
    const replayed = begun.when(record(dead())).next.when(again);
    expect(replayed.body('delivery.replayed')).toEqual({ ...ABOUT, replay: 1, by: BY });
    expect(replayed.next.when(again).types).toEqual([]);
    expect(replayed.next.when(record(dead(0))).types).toEqual([]);
    const second = replayed.next.when(record(dead(1))).next.when(again);
    expect(second.body('delivery.replayed')).toMatchObject({ replay: 2 });
    expect(second.next.when(record(arrived(2))).types).toEqual(['delivery.succeeded']);
  });

  it('is not sent again once it has arrived, nor while it is still on its way', () => {
    expect(begun.when(record(arrived())).next.when(again).code).toBe('already_delivered');
    expect(begun.when(again)).toMatchObject({ types: [], code: null });
  });

  it('comes to the same state whatever prefix is folded', () => {
    const facts: DeliveryEvent[] = [dead(0), { type: 'delivery.replayed', body: { ...ABOUT, replay: 1, by: BY } }, arrived(1)];
    const statuses = facts.map((_, index) => begun.happened(...facts.slice(0, index + 1)).state);
    expect(statuses).toEqual([
      { status: 'dead_lettered', replays: 0 },
      { status: 'open', replays: 1 },
      { status: 'delivered', replays: 1 },
    ]);
  });
});
