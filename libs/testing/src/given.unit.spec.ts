import type { Decision, DomainEvent, StoredEvent } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { given } from './given.js';

type Reminded = DomainEvent<'review.reminded', { after_seconds: number; remaining_seconds: number }>;
const reminded = (after_seconds: number): Reminded => ({ type: 'review.reminded', body: { after_seconds, remaining_seconds: 0 } });

const story = () =>
  given<string[], Reminded>({
    fold: {
      initial: () => [],
      evolve: (seen, event: StoredEvent<Reminded>) => [...seen, `${event.version} ${event.time} ${event.body.after_seconds}`],
    },
    stream: 'rev_1',
    project: 'prj_1',
    start: '2026-01-01T00:00:00.000Z',
  });
const deciding = (decision: Decision<Reminded>) => () => decision;

describe('a story', () => {
  it('folds what happened, at the time it happened', () => {
    const led = story()
      .happened(reminded(1))
      .after(60)
      .when(deciding({ events: [reminded(2), reminded(3)] }));
    expect(led.types).toEqual(['review.reminded', 'review.reminded']);
    expect(led.next.state).toEqual(['1 2026-01-01T00:00:00.000Z 1', '2 2026-01-01T00:01:00.000Z 2', '3 2026-01-01T00:01:00.000Z 3']);
    expect(led.next.events.map(({ id, category }) => [id, category])).toEqual(
      [1, 2, 3].map((n) => [`evt_${String(n).padStart(26, '0')}`, 'rev']),
    );
  });

  it('hands the command the state and the time, and tells its refusal', () => {
    const led = story()
      .happened(reminded(1))
      .when((state, now) => ({ events: [], refusal: { code: `${state.length}`, message: now } }));
    expect(led).toMatchObject({ code: '1', refusal: { message: '2026-01-01T00:00:00.000Z' } });
    expect(story().when(deciding({ events: [] })).code).toBeNull();
  });

  it('refuses an event that breaks its contract', () => {
    expect(() => story().when(deciding({ events: [{ type: 'review.reminded', body: {} } as never] }))).toThrow('after_seconds is required');
    expect(() => story().when(deciding({ events: [{ ...reminded(1), schemaVersion: 9 }] }))).toThrow('has no schema');
  });

  it('refuses an append the store would refuse for its time, and only where something is appended', () => {
    const { now } = story();
    const later = story().after(1).now;
    expect(() => story().when(deciding({ events: [reminded(1)], notAfter: now }))).toThrow('Would be too late');
    expect(() => story().when(deciding({ events: [reminded(1)], notBefore: later }))).toThrow('Would be early');
    expect(story().when(deciding({ events: [reminded(1)], notAfter: later, notBefore: now })).types).toHaveLength(1);
    expect(story().when(deciding({ events: [], notAfter: now })).types).toEqual([]);
  });

  it('knows the one event of a type', () => {
    expect(
      story()
        .when(deciding({ events: [reminded(7)] }))
        .body('review.reminded').after_seconds,
    ).toBe(7);
    expect(() =>
      story()
        .when(deciding({ events: [] }))
        .body('review.reminded'),
    ).toThrow('Expected one review.reminded');
    expect(() =>
      story()
        .when(deciding({ events: [reminded(1), reminded(2)] }))
        .body('review.reminded'),
    ).toThrow('Expected one');
  });
});
