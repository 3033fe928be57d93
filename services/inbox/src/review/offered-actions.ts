/** Which of a review's actions a person can press now. The server has the last word; a unit test holds the two to each other. */
import type { Review, TemplateAction } from '@countersign/contracts';

type Shown = Pick<Review, 'actions' | 'status' | 'template'>;

/** Belong to the protocol, whether or not a template lists them (HRP digest §2.4). */
const REQUEST_CHANGES: TemplateAction = {
  id: 'request_changes',
  label: 'Request changes',
  kind: 'iteration',
  requires_feedback: true,
  style: 'secondary',
};
const WHILE_AWAITED: readonly TemplateAction[] = [
  {
    id: 'cancel_iteration',
    label: 'Cancel the request for changes',
    kind: 'side_effect',
    style: 'secondary',
    enabled_for_status: ['awaiting_iteration'],
  },
  {
    id: 'reject_from_iteration',
    label: 'Reject',
    kind: 'decision',
    decision_value: 'rejected',
    style: 'destructive',
    enabled_for_status: ['awaiting_iteration'],
  },
];

export function offeredActions({ actions, status, template }: Shown): TemplateAction[] {
  const listed = actions.some((action) => action.id === REQUEST_CHANGES.id);
  const all = [...actions, ...(listed ? [] : [REQUEST_CHANGES]), ...WHILE_AWAITED];
  const mayIterate = template?.allow_request_changes ?? true;
  return all.filter((action) => (action.enabled_for_status ?? ['pending']).includes(status) && (action.kind !== 'iteration' || mayIterate));
}

/** In the order to show them: what the template says, else approve, ask again, the rest, reject. */
export function inOrder(actions: readonly TemplateAction[]): TemplateAction[] {
  const rank = (action: TemplateAction) => {
    if (action.decision_value === 'approved') return 0;
    if (action.kind === 'iteration') return 1;
    return action.decision_value === 'rejected' ? 3 : 2;
  };
  return [...actions].sort((a, b) => (a.order ?? 1000) - (b.order ?? 1000) || rank(a) - rank(b));
}

/** The action a key of the keyboard stands for: a approves, r rejects, c asks for changes. */
export function actionOfKey(key: string, actions: readonly TemplateAction[]): TemplateAction | undefined {
  switch (key) {
    case 'a':
      return actions.find((action) => action.decision_value === 'approved');
    case 'r':
      return actions.find((action) => action.decision_value === 'rejected');
    case 'c':
      return actions.find((action) => action.kind === 'iteration');
    default:
      return undefined;
  }
}
