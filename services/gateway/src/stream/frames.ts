import type { ReviewEvent, ReviewFrame } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { addSeconds, effectiveDeadline } from '@countersign/review';

/** What a frame says of its review beside the fact itself. */
export interface ReviewFacts {
  template_id: string;
  template_slug: string;
  priority: ReviewFrame['priority'];
  /** Of the payload, as `current_version` on the wire. */
  version: number;
  /** End of the review's window: what the clock does is dated then, whenever it was written (decision 25). */
  expires_at: string | null;
}

/** One frame on its way, with what decides who may see it. */
export interface Frame {
  position: number;
  /** Among the frames of one event. */
  index: number;
  project_id: string;
  template_id: string;
  /** The JSON document of `data:`. */
  data: string;
}

type Extra = Partial<ReviewFrame> & { type: ReviewFrame['type'] };

/** The facts of a review after an event; null before its first, or when that was redacted. */
export function factsAfter(facts: ReviewFacts | null, event: StoredEvent): ReviewFacts | null {
  if (event.redacted) return facts;
  const fact = event as StoredEvent<ReviewEvent>;
  if (fact.type === 'review.requested') {
    const { template, priority, timeout } = fact.body;
    const expires_at = timeout === null ? null : addSeconds(event.time, timeout.seconds);
    return { template_id: template.id, template_slug: template.slug, priority, version: 1, expires_at };
  }
  if (fact.type === 'review.resubmitted' && facts) return { ...facts, version: fact.body.version };
  return facts;
}

/** What a fact of a review is on the stream (HRP §6.3); nothing for facts the stream does not tell. */
export function framesOf(event: StoredEvent, facts: ReviewFacts): Frame[] {
  if (event.redacted) return [];
  return told(event as StoredEvent<ReviewEvent>, facts).map((extra, index) => {
    const { type, ...rest } = extra;
    const frame: ReviewFrame = {
      type,
      review_id: event.stream,
      project_id: event.project,
      template_slug: facts.template_slug,
      priority: facts.priority,
      created_at: event.time,
      current_version: facts.version,
      ...rest,
    };
    return { position: event.position, index, project_id: event.project, template_id: facts.template_id, data: JSON.stringify(frame) };
  });
}

function told(event: StoredEvent<ReviewEvent>, facts: ReviewFacts): Extra[] {
  const due = effectiveDeadline(facts);
  switch (event.type) {
    case 'review.requested': {
      const { priority, timeout } = event.body;
      const expires = timeout && due ? { expires_at: due, timeout_action: timeout.action } : {};
      const created: Extra = { type: 'review.created', ...expires };
      return priority === 'high' || priority === 'critical' ? [created, { ...created, type: 'review.urgent' }] : [created];
    }
    case 'review.resubmitted':
      return [{ type: 'review.resubmitted' }];
    case 'review.decided': {
      const { action, decision, trigger, version } = event.body;
      const at = trigger === 'timeout' ? (due ?? event.time) : event.time;
      const decided: Extra = { type: 'review.decided', decision, decided_at: at, current_version: version };
      return action !== null && trigger === 'action' ? [taken(action, version), { ...decided, action_id: action.id }] : [decided];
    }
    case 'review.changes_requested':
      return [taken(event.body.action, event.body.shown.version), { type: 'review.retried', action_id: event.body.action.id }];
    case 'review.action_taken':
    case 'review.iteration_cancelled':
      return [taken(event.body.action, event.body.shown.version)];
    case 'review.changes_timed_out':
      return [{ type: 'review.retried' }];
    case 'review.expired':
      return [{ type: 'review.expired', expired_at: due ?? event.time, timeout_action: event.body.timeout_action }];
    case 'review.withdrawn':
      return [{ type: 'review.expired', expired_at: event.time, withdrawn: true }];
    case 'review.reminded':
      return [{ type: 'review.reminder', ...(due ? { expires_at: due } : {}) }];
    case 'review.claimed':
      return [{ type: 'review.claimed', held_by: `reviewer:${event.body.by.email}` }];
    case 'review.released':
      return [{ type: 'review.released' }];
    case 'review.assigned': {
      const { assignee, previous_assignee, hold } = event.body;
      const before = previous_assignee === null ? {} : { previous_assignee };
      return [{ type: 'review.assigned', new_assignee: assignee, ...before, ...(hold ? { held_by: hold.ref } : {}) }];
    }
    case 'review.unassigned': {
      // Somebody left: what they were given waits for anybody again, and so does what they held.
      const { previous_assignee, holder } = event.body;
      const given: Extra[] = previous_assignee === null ? [] : [{ type: 'review.unassigned', previous_assignee }];
      return holder === null ? given : [...given, { type: 'review.released' }];
    }
    case 'review.archived':
      return [{ type: 'review.archived' }];
    case 'review.unarchived':
      return [{ type: 'review.unarchived' }];
    case 'review.redeemed':
      return [{ type: 'review.redeemed' }];
    case 'review.executed':
      return [{ type: 'review.executed', execution_status: event.body.status }];
    default:
      // A late attempt that was refused changed nothing; a type of a newer version is told by a newer gateway.
      return [];
  }
}

function taken(action: { id: string }, version: number): Extra {
  return { type: 'review.action_taken', action_id: action.id, current_version: version };
}
