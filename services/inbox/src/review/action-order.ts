/** The actions a review offers, as the page puts them before a person. Which ones it offers is said by the server. */
import type { TemplateAction } from '@countersign/contracts';

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
