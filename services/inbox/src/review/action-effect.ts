/** What an action does, whatever it is called. */
import type { TemplateAction } from '@countersign/contracts';

export function approves(action: TemplateAction): boolean {
  return action.decision_value === 'approved';
}

/** Edits go along with what takes them up: an approval, or a question to the agent. */
export function takesEdits(action: TemplateAction): boolean {
  return approves(action) || action.kind === 'iteration';
}
