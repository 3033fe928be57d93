/**
 * Which actions a review offers. The list its template published is authoritative for decisions (HRP §2.4): `approve` exists where the
 * template lists it. Asking for changes, taking that back, and refusing while changes are awaited belong to the protocol, not to a template.
 */
import type { Action } from '@countersign/contracts';
import { isOpen } from '../review.js';
import type { RequestedReview, ReviewState } from '../state.js';

/** What a template may list by name (HRP §2.4). */
export const PRESETS = {
  approve: { id: 'approve', label: 'Approve', kind: 'decision', decision_value: 'approved', style: 'primary' },
  reject: {
    id: 'reject',
    label: 'Reject',
    kind: 'decision',
    decision_value: 'rejected',
    requires_feedback: true,
    confirmation: true,
    style: 'destructive',
  },
  request_changes: { id: 'request_changes', label: 'Request changes', kind: 'iteration', requires_feedback: true, style: 'secondary' },
} as const satisfies Record<string, Action>;

export const CANCEL_ITERATION = {
  id: 'cancel_iteration',
  label: 'Cancel the request for changes',
  kind: 'side_effect',
  style: 'secondary',
  enabled_for_status: ['awaiting_iteration'],
} as const satisfies Omit<Action, 'enabled_for_status'> & { enabled_for_status: readonly string[] };

const REJECT_FROM_ITERATION = {
  id: 'reject_from_iteration',
  label: 'Reject',
  kind: 'decision',
  decision_value: 'rejected',
  style: 'destructive',
  enabled_for_status: ['awaiting_iteration'],
} as const satisfies Omit<Action, 'enabled_for_status'> & { enabled_for_status: readonly string[] };

/** Ids a template cannot give to actions of its own. */
export const RESERVED_ACTION_IDS: readonly string[] = [CANCEL_ITERATION.id, REJECT_FROM_ITERATION.id];

const copy = ({
  enabled_for_status,
  ...action
}: Omit<Action, 'enabled_for_status'> & { enabled_for_status?: readonly string[] }): Action => ({
  ...action,
  ...(enabled_for_status && { enabled_for_status: [...enabled_for_status] as Action['enabled_for_status'] }),
});

/** Every action that can be named on the review, in whatever status it is offered. */
export function actionsOf(review: Pick<RequestedReview, 'actions'>): Action[] {
  const listed = new Set(review.actions.map((action) => action.id));
  const changes = listed.has(PRESETS.request_changes.id) ? [] : [copy(PRESETS.request_changes)];
  return [...review.actions, ...changes, copy(CANCEL_ITERATION), copy(REJECT_FROM_ITERATION)];
}

export function isEnabled(action: Action, status: ReviewState['status']): boolean {
  const statuses: readonly string[] = action.enabled_for_status ?? ['pending'];
  return statuses.includes(status);
}

/** What a person may press now: for screens and tools. Nothing once it is settled, whatever an action says it is enabled for. */
export function offeredActions(review: RequestedReview): Action[] {
  if (!isOpen(review)) return [];
  return actionsOf(review).filter(
    (action) => isEnabled(action, review.status) && (action.kind !== 'iteration' || review.template.allow_request_changes),
  );
}

/** An action by its id, or by what the deprecated routes mean: the template's own action for it. */
export type ActionChoice = { id: string } | { alias: 'approved' | 'rejected' | 'request_changes' | 'cancel_iteration'; value?: string };

export function resolveAction(review: RequestedReview, choice: ActionChoice): Action | undefined {
  const actions = actionsOf(review);
  if ('id' in choice) return actions.find((action) => action.id === choice.id);
  const { alias, value } = choice;
  switch (alias) {
    case 'cancel_iteration':
      return actions.find((action) => action.id === CANCEL_ITERATION.id);
    case 'request_changes':
      return actions.find((action) => action.kind === 'iteration');
    default: {
      const deciding = review.actions.filter((action) => action.decision_value === alias);
      return deciding.find((action) => action.id === value) ?? deciding[0];
    }
  }
}
