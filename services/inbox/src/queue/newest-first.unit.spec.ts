import { describe, expect, it } from '@jest/globals';
import { decidedBy, mine, requested, shownAfter } from '../review/wire-fixture.js';
import { newestFirst } from './newest-first.js';

const decided = (decided_at: string | null, updated_at: string) => ({ ...shownAfter(decidedBy(mine, 'approve')), decided_at, updated_at });
const early = decided('2026-03-01T10:00:00.000Z', '2026-03-09T10:00:00.000Z');
const late = { ...decided('2026-03-02T10:00:00.000Z', '2026-03-02T10:00:00.000Z'), priority: 'low' as const };
const lapsed = { ...shownAfter(requested()), updated_at: '2026-03-01T12:00:00.000Z' };

describe('reviews that are over', () => {
  it('stand by when they were decided, whatever happened to them since and however urgent they were; else by when they lapsed', () => {
    const given = [{ ...early, priority: 'critical' as const }, lapsed, late];
    expect(newestFirst(given).map(({ updated_at }) => updated_at)).toEqual([late.updated_at, lapsed.updated_at, early.updated_at]);
  });
});
