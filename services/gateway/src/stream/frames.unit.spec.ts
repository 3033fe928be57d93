import { type ReviewEvent, type ReviewFrame, StreamFrame, validator } from '@countersign/contracts';
import { newId, type StoredEvent } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { changesRequested, claimed, decided, MAYA, requested, resubmitted } from '../fixture/stream.js';
import { factsAfter, framesOf } from './frames.js';

const TIME = '2026-11-30T10:00:00.000Z';
const stream = newId('rev');
const project = newId('prj');

function stored(event: ReviewEvent, version: number, time = TIME): StoredEvent {
  return {
    ...event,
    stream,
    project,
    version,
    time,
    position: 100 + version,
    shard: 0,
    category: 'review',
    id: newId('evt'),
    bucket: 0,
    schemaVersion: 1,
    redacted: false,
    meta: {},
  };
}

/** What a review's facts are told as, one list for each fact. */
function told(...events: (ReviewEvent | StoredEvent)[]): ReviewFrame[][] {
  let facts: ReturnType<typeof factsAfter> = null;
  return events.map((event, index) => {
    const fact = 'stream' in event ? event : stored(event, index + 1, index === 0 ? TIME : '2026-11-30T12:00:00.500Z');
    facts = factsAfter(facts, fact);
    return facts ? framesOf(fact, facts).map(({ data }) => JSON.parse(data) as ReviewFrame) : [];
  });
}
const types = (frames: ReviewFrame[][]) => frames.map((list) => list.map(({ type }) => type));
const agent = { kind: 'agent' as const, key_id: newId('key'), key_prefix: 'gwk_aaaaaaaa' };
const digest = `sha256:${'b'.repeat(64)}`;

describe('framesOf', () => {
  it('tells every fact of a review, each frame by its contract', () => {
    const act = (changesRequested() as Extract<ReviewEvent, { type: 'review.changes_requested' }>).body;
    const { prompt_edit: _p, changes_timeout_seconds: _c, ...sideEffect } = act;
    const { webhook_event: _w, ...cancelled } = sideEffect;
    const facts: [ReviewEvent, ReviewFrame['type'][]][] = [
      [requested({ priority: 'high', timeout: { seconds: 3_600, action: 'auto_reject' } }), ['review.created', 'review.urgent']],
      [claimed(), ['review.claimed']],
      [
        { type: 'review.released', body: { by: MAYA, holder: { ref: 'reviewer:maya@example.com', person_id: MAYA.id } } },
        ['review.released'],
      ],
      [
        { type: 'review.assigned', body: { by: MAYA, assignee: 'sam@example.com', previous_assignee: 'maya@example.com', hold: null } },
        ['review.assigned'],
      ],
      [{ type: 'review.action_taken', body: sideEffect }, ['review.action_taken']],
      [changesRequested(), ['review.action_taken', 'review.retried']],
      [{ type: 'review.iteration_cancelled', body: cancelled }, ['review.action_taken']],
      [{ type: 'review.changes_timed_out', body: { version: 1, after_seconds: 60 } }, ['review.retried']],
      [resubmitted(2), ['review.resubmitted']],
      [{ type: 'review.reminded', body: { after_seconds: 2_700, remaining_seconds: 900 } }, ['review.reminder']],
      [decided({ version: 2 }), ['review.action_taken', 'review.decided']],
      [{ type: 'review.redeemed', body: { redemption_id: newId('rdm'), digest, executor: null, by: agent } }, ['review.redeemed']],
      [
        {
          type: 'review.executed',
          body: { execution_id: newId('exe'), redemption_id: null, status: 'failed', output_digest: null, note: null, by: agent },
        },
        ['review.executed'],
      ],
      [{ type: 'review.archived', body: { by: MAYA } }, ['review.archived']],
      [{ type: 'review.unarchived', body: { by: MAYA } }, ['review.unarchived']],
      [{ type: 'review.withdrawn', body: { reason: null, by: agent } }, ['review.expired']],
      [{ type: 'review.late_attempt_refused', body: { by: MAYA, attempt: 'act', action_id: 'approve', late_seconds: 3 } }, []],
    ];
    const frames = told(...facts.map(([fact]) => fact));
    expect(types(frames)).toEqual(facts.map(([, list]) => list));
    const validate = validator(StreamFrame, 'exact');
    for (const frame of frames.flat()) expect([frame, validate(structuredClone(frame))]).toEqual([frame, { ok: true, value: frame }]);
    expect(frames[0]?.[0]).toMatchObject({
      expires_at: '2026-11-30T11:00:00.000Z',
      timeout_action: 'auto_reject',
      created_at: TIME,
      current_version: 1,
    });
    expect(frames[3]?.[0]).toMatchObject({ new_assignee: 'sam@example.com', previous_assignee: 'maya@example.com' });
    expect(frames[9]?.[0]).toMatchObject({ current_version: 2, expires_at: '2026-11-30T11:00:00.000Z' });
    expect(frames[12]?.[0]).toMatchObject({ execution_status: 'failed' });
    expect(frames[15]?.[0]).toMatchObject({ withdrawn: true, expired_at: '2026-11-30T12:00:00.500Z' });
  });

  it('tells of whoever left what they had: what they were given, what they held, or both', () => {
    const left = { person_id: MAYA.id, reason: 'membership_ended' as const };
    const holder = { ref: 'reviewer:maya@example.com', person_id: MAYA.id };
    const [, both, given, held] = told(
      requested(),
      { type: 'review.unassigned', body: { ...left, previous_assignee: 'maya@example.com', holder } },
      { type: 'review.unassigned', body: { ...left, previous_assignee: 'maya@example.com', holder: null } },
      { type: 'review.unassigned', body: { ...left, previous_assignee: null, holder } },
    );
    expect(both).toMatchObject([{ type: 'review.unassigned', previous_assignee: 'maya@example.com' }, { type: 'review.released' }]);
    expect(types([given ?? [], held ?? []])).toEqual([['review.unassigned'], ['review.released']]);
    const validate = validator(StreamFrame, 'exact');
    for (const frame of both ?? []) expect(validate(structuredClone(frame)).ok).toBe(true);
  });

  it('dates what the clock decides at the deadline, whenever it was written (decision 25)', () => {
    const open = requested({ timeout: { seconds: 60, action: 'auto_approve' } });
    const due = '2026-11-30T10:01:00.000Z';
    const [, byClock] = told(
      open,
      decided({
        trigger: 'timeout',
        action: null,
        shown: null,
        decided_by: { kind: 'system', id: 'system:timeout' },
        proof: null,
        after_seconds: 60,
      }),
    );
    expect(byClock).toEqual([expect.objectContaining({ type: 'review.decided', decided_at: due, created_at: '2026-11-30T12:00:00.500Z' })]);
    const [, lapsed] = told(open, { type: 'review.expired', body: { timeout_action: 'expire', after_seconds: 60 } });
    expect(lapsed).toEqual([expect.objectContaining({ type: 'review.expired', expired_at: due, timeout_action: 'expire' })]);
    const [, byPerson] = told(open, decided());
    expect(byPerson?.at(-1)).toMatchObject({ decided_at: '2026-11-30T12:00:00.500Z', action_id: 'approve' });
  });

  it('tells nothing of what is erased or unknown', () => {
    const erased = { ...stored(requested(), 1), body: null, redacted: true } as StoredEvent;
    expect(types(told(erased, claimed()))).toEqual([[], []]);
    const newer = { ...stored(claimed(), 2), type: 'review.teleported' } as StoredEvent;
    expect(types(told(requested(), newer))).toEqual([['review.created'], []]);
  });
});
