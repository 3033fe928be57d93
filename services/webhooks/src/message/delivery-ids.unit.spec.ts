import { idOf, isId, newId, uuidOf } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { deliveryUuid } from './delivery-ids.js';

describe('deliveryUuid', () => {
  it('is the same for the same event and type, and another for another', () => {
    const event = newId('evt');
    const first = deliveryUuid(event, 'review.decided', 1);
    expect(deliveryUuid(event, 'review.decided', 1)).toBe(first);
    const others = [
      deliveryUuid(event, 'review.action_taken', 1),
      deliveryUuid(event, 'review.decided', 0),
      deliveryUuid(newId('evt'), 'review.decided', 1),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  it('never changes from one release to the next: a batch handled again must meet its own rows', () => {
    expect(deliveryUuid(idOf('evt', '019ad3c0-4e20-7abc-8def-0123456789ab'), 'review.decided', 1)).toBe(
      '019ad3c0-4e20-7001-b3c1-344a2cfdf017',
    );
  });

  it('is a UUIDv7 that sorts by the time of the event and by the place', () => {
    const event = newId('evt');
    const ids = [0, 1, 2].map((place) => deliveryUuid(event, `type-${place}`, place));
    expect([...ids].sort()).toEqual(ids);
    expect(isId('whd', idOf('whd', ids[0] as string))).toBe(true);
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids[0]?.slice(0, 13)).toBe(uuidOf(event).slice(0, 13));
  });
});
