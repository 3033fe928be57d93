import { digest } from '@countersign/evidence';
import { describe, expect, it } from '@jest/globals';
import { type Asked, agent, ann, asked, at, DAY, doing, empty, PAYLOAD, REVIEW, within } from '../review-fixture.js';
import { effectiveDeadline } from '../rules/deadline.js';
import type { RequestedReview, ReviewState } from '../state.js';
import { elapse, type ReviewTimer, settle } from './elapse.js';
import { withdraw } from './submit.js';

const due = (timer: ReviewTimer) => (state: ReviewState, now: string) => elapse(timer, state, now);
const changes = (how: Asked = {}) => asked(how).when(doing(ann, 'request_changes', { feedback: 'x' })).next;
const withChanges = (how: Asked, changes_timeout_hours: number): Asked => ({ ...how, config: { ...how.config, changes_timeout_hours } });

describe('the end of the window', () => {
  it('expires the review, dated at the end whenever it is written', () => {
    for (const late of [0, 100_000]) {
      const led = asked(within('expire'))
        .after(DAY + late)
        .when(due('timeout'));
      expect(led.types).toEqual(['review.expired']);
      expect(led.body('review.expired')).toEqual({ timeout_action: 'expire', after_seconds: DAY });
      expect(led.next.state).toMatchObject({ status: 'expired', outcome: { expired_at: at(DAY), withdrawal: null }, updated_at: at(DAY) });
      expect(led.decision).toMatchObject({ notBefore: at(DAY) });
      expect(led.decision.cancel?.map(({ kind }) => kind)).toEqual(['timeout', 'changes_timeout', 'reminder']);
    }
  });

  it('approves what the agent sent where the template says so, and never as a person', () => {
    const led = asked(within('auto_approve'))
      .after(DAY + 5)
      .when(due('timeout'));
    expect(led.body('review.decided')).toMatchObject({
      decision: 'approved',
      trigger: 'timeout',
      decided_by: { kind: 'system', id: 'system:timeout' },
      acted_by: null,
      action: null,
      proof: null,
      shown: null,
      after_seconds: DAY,
      approved_value: PAYLOAD,
      approved_digest: digest(PAYLOAD),
    });
    expect(led.next.state).toMatchObject({ status: 'decided', outcome: { decided_at: at(DAY) }, updated_at: at(DAY) });
  });

  it('rejects where the template says so, and approves nothing', () => {
    const led = asked(within('auto_reject')).after(DAY).when(due('timeout'));
    expect(led.body('review.decided')).toMatchObject({ decision: 'rejected', approved_value: null, approved_digest: null });
  });

  it('E4: never approves what a person sent back', () => {
    const led = changes(within('auto_approve')).after(DAY).when(due('timeout'));
    expect(led.types).toEqual(['review.expired']);
    expect(led.body('review.expired')).toMatchObject({ timeout_action: 'auto_approve' });
    expect(changes(within('auto_reject')).after(DAY).when(due('timeout')).body('review.decided')).toMatchObject({ decision: 'rejected' });
    expect(changes(within('expire')).after(DAY).when(due('timeout')).types).toEqual(['review.expired']);
  });

  it('is not yet, up to the last millisecond', () => {
    const led = asked(within('expire'))
      .after(DAY - 0.001)
      .when(due('timeout'));
    expect(led.types).toEqual([]);
    expect(led.decision.notYet).toBe(at(DAY));
  });

  it('has no purpose once the review is settled, has no window, or is none', () => {
    for (const story of [
      asked(within('expire')).when(doing(ann, 'approve')).next,
      asked(within('expire')).when((s, now) => withdraw({ actor: agent }, s, now)).next,
      asked(),
      empty(),
    ]) {
      const led = story.after(2 * DAY).when(due('timeout'));
      expect(led.types).toEqual([]);
      expect(led.decision.notYet).toBeUndefined();
    }
  });

  it('is where one function says it is', () => {
    expect(effectiveDeadline(asked(within('expire')).state as RequestedReview)).toBe(at(DAY));
    expect(effectiveDeadline(asked().state as RequestedReview)).toBeNull();
  });
});

describe('the end of a wait for changes', () => {
  it('gives the review back to people, dated at its end', () => {
    const led = changes({ config: { changes_timeout_hours: 1 } })
      .after(5000)
      .when(due('changes_timeout'));
    expect(led.types).toEqual(['review.changes_timed_out']);
    expect(led.body('review.changes_timed_out')).toEqual({ version: 1, after_seconds: 3600 });
    expect(led.decision).toMatchObject({ notBefore: at(3600), cancel: [{ stream: REVIEW, kind: 'changes_timeout' }] });
    expect(led.next.state).toMatchObject({ status: 'pending', feedback: null, updated_at: at(3600), last_act: { standing: false } });
  });

  it('is not yet', () => {
    const led = changes({ config: { changes_timeout_hours: 1 } })
      .after(3599)
      .when(due('changes_timeout'));
    expect(led.decision).toEqual({ events: [], notYet: at(3600) });
  });

  it('has no purpose where nothing is awaited, or for ever', () => {
    for (const story of [asked(), changes(), empty()]) {
      expect(story.after(DAY).when(due('changes_timeout')).decision).toEqual({ events: [], notYet: undefined });
    }
  });

  it('E3: comes before the end of the window where it ended before it', () => {
    const story = changes(withChanges(within('auto_approve'), 2)).after(2 * DAY);
    const led = story.when(due('timeout'));
    expect(led.types).toEqual(['review.changes_timed_out', 'review.decided']);
    expect(led.decision).toMatchObject({ notBefore: at(DAY) });
    expect(led.body('review.decided').decision).toBe('approved');
  });

  it('E3: does not come at all where the window ended first, or at the same instant', () => {
    for (const hours of [25, 24]) {
      expect(
        changes(withChanges(within('expire'), hours))
          .after(3 * DAY)
          .when(due('changes_timeout')).types,
      ).toEqual(['review.expired']);
    }
  });
});

describe('a row that was taken too early, as after a clock was set back', () => {
  const story = () => changes({ config: { changes_timeout_hours: 1, timeout_seconds: 2 * 3600, timeout_action: 'expire' } });

  it('is not yet, and leaves what fell due beside it to the row of that', () => {
    expect(story().after(3601).when(due('timeout')).decision).toEqual({ events: [], notYet: at(7200) });
    expect(story().after(3601).when(due('reminder')).decision).toEqual({ events: [], notYet: at(5400) });
    expect(story().after(3601).when(due('changes_timeout')).types).toEqual(['review.changes_timed_out']);
  });
});

describe('the reminder', () => {
  const story = () => asked(within('expire', 1000));

  it('comes once three quarters of the window are over', () => {
    const led = story().after(760).when(due('reminder'));
    expect(led.types).toEqual(['review.reminded']);
    expect(led.body('review.reminded')).toEqual({ after_seconds: 750, remaining_seconds: 240 });
    expect(led.decision).toMatchObject({ notBefore: at(750), notAfter: at(1000), cancel: [{ stream: REVIEW, kind: 'reminder' }] });
    expect(led.next.state).toMatchObject({ status: 'pending', reminded_at: at(760) });
    expect(led.next.after(1).when(due('reminder')).decision).toEqual({ events: [] });
  });

  it('comes while changes are awaited too: the window goes on', () => {
    const led = story()
      .when(doing(ann, 'request_changes', { feedback: 'x' }))
      .next.after(750)
      .when(due('reminder'));
    expect(led.types).toEqual(['review.reminded']);
  });

  it('comes together with the end of a wait for changes that fell due beside it: its row would be gone', () => {
    const led = changes({ config: { changes_timeout_hours: 1, timeout_seconds: 6000, timeout_action: 'expire' } })
      .after(4600)
      .when(due('reminder'));
    expect(led.types).toEqual(['review.changes_timed_out', 'review.reminded']);
    const spent = ['changes_timeout', 'reminder'].map((kind) => ({ stream: REVIEW, kind }));
    expect(led.decision).toMatchObject({ notBefore: at(4500), notAfter: at(6000), cancel: spent });
    expect(led.next.state).toMatchObject({ status: 'pending', reminded_at: at(4600) });
  });

  it('is bound to the later of what it records', () => {
    const led = changes({ config: { changes_timeout_hours: 1, timeout_seconds: 4000, timeout_action: 'expire' } })
      .after(3700)
      .when(due('reminder'));
    expect(led.decision.notBefore).toBe(at(3600));
  });

  it('is not yet', () => {
    expect(story().after(749).when(due('reminder')).decision).toEqual({ events: [], notYet: at(750) });
  });

  it('has no purpose on a review without a window or that is settled; after the end, the end is recorded instead', () => {
    expect(asked().when(due('reminder')).decision).toEqual({ events: [] });
    expect(story().when(doing(ann, 'approve')).next.after(750).when(due('reminder')).decision).toEqual({ events: [] });
    expect(story().after(1000).when(due('reminder')).types).toEqual(['review.expired']);
  });
});

describe('the settled view', () => {
  it('E2: is the same for every reader after the end, and what is then written is what was read', () => {
    const story = changes(withChanges(within('auto_reject'), 2));
    const views = [DAY, DAY + 1, 10 * DAY].map((seconds) => settle(story.state, at(seconds)).state);
    expect(views[1]).toEqual(views[0]);
    expect(views[2]).toEqual(views[0]);
    expect(story.after(10 * DAY).when(due('timeout')).next.state).toEqual(views[0]);
  });

  it('is what is written, where nothing fell due', () => {
    const { state } = asked(within('expire'));
    expect(settle(state, at(1))).toEqual({ state, events: [] });
  });
});
