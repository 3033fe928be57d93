/** What each group of consumers leaves, by name: a new type of event fails here once, and somebody says who ought to hear of it. */
import { DECISIONS_LEAVES } from '@countersign/decisions';
import { INTAKE_LEAVES } from '@countersign/intake';
import { WEBHOOKS_SUBSCRIPTION } from '@countersign/webhooks';
import { describe, expect, it } from '@jest/globals';

describe('a group of consumers knows every event of its streams, and leaves', () => {
  it('intake: what neither opens nor settles a review', () => {
    expect(new Set(INTAKE_LEAVES)).toEqual(
      new Set([
        'review.resubmitted',
        'review.changes_requested',
        'review.action_taken',
        'review.iteration_cancelled',
        'review.changes_timed_out',
        'review.reminded',
        'review.claimed',
        'review.released',
        'review.assigned',
        'review.unassigned',
        'review.archived',
        'review.unarchived',
        'review.redeemed',
        'review.executed',
        'review.late_attempt_refused',
      ]),
    );
  });

  it('decisions: what makes no draft pointless and changes nobody’s hands', () => {
    expect(new Set(DECISIONS_LEAVES)).toEqual(
      new Set([
        'review.action_taken',
        'review.changes_timed_out',
        'review.reminded',
        'review.archived',
        'review.unarchived',
        'review.redeemed',
        'review.executed',
        'review.late_attempt_refused',
        'project.created',
        'project.changed',
        'membership.changed',
        'invite.created',
        'invite.accepted',
        'invite.revoked',
        'secret.created',
        'secret.rotated',
        'secret.promoted',
        'secret.revealed',
      ]),
    );
  });

  it('webhooks: what agents are not told', () => {
    expect(new Set(WEBHOOKS_SUBSCRIPTION.leaves)).toEqual(
      new Set([
        'review.requested',
        'review.resubmitted',
        'review.changes_timed_out',
        'review.reminded',
        'review.claimed',
        'review.released',
        'review.assigned',
        'review.unassigned',
        'review.archived',
        'review.unarchived',
        'review.late_attempt_refused',
        'delivery.succeeded',
        'delivery.dead_lettered',
      ]),
    );
  });
});
