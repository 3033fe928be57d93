/** What an action does, whatever its template calls it. */
import type { TemplateAction } from '@countersign/contracts';

export function approves(action: TemplateAction): boolean {
  return action.decision_value === 'approved';
}

/** Edits go along with what takes them up: an approval, or a question to the agent. */
export function takesEdits(action: TemplateAction): boolean {
  return approves(action) || action.kind === 'iteration';
}

const LIST = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const named = (actions: readonly TemplateAction[]): string => LIST.format(actions.map(({ label }) => `“${label}”`));

/** What becomes of edits with each action that ends this round: a person has to know before they press. What decides nothing leaves them. */
export function fateOfEdits(actions: readonly TemplateAction[]): string {
  const approving = actions.filter(approves);
  const asking = actions.filter(({ kind }) => kind === 'iteration');
  const others = actions.filter((action) => action.kind === 'decision' && !approves(action));
  const fates = [
    ...(approving.length > 0 ? [`are approved with ${named(approving)}`] : []),
    ...(asking.length > 0 ? [`go to the agent as a suggestion with ${named(asking)}`] : []),
    ...(others.length > 0 ? [`are not sent with ${named(others)}`] : []),
  ];
  return fates.length === 0 ? '' : `Your edits ${LIST.format(fates)}.`;
}

/** Which of the actions want feedback. */
export function feedbackWanted(actions: readonly TemplateAction[]): string {
  const wanting = actions.filter((action) => action.requires_feedback);
  if (wanting.length === 0) return 'Optional.';
  return wanting.length === actions.length ? 'Required.' : `Required for ${named(wanting)}, otherwise optional.`;
}

/** The protocol's own actions while changes are awaited (HRP §2.4): one takes the request back, one rejects without waiting for the answer. */
export const TAKE_BACK = 'cancel_iteration';
export const REJECT_MEANWHILE = 'reject_from_iteration';

const RECORDS = { approved: 'Records: approved', rejected: 'Records: rejected' };
const OTHERS = { decision: RECORDS.rejected, iteration: 'Sends it back to the agent', side_effect: 'Decides nothing' };

/** Labels that say what happens by themselves, with that. */
const PLAIN: Readonly<Record<string, string>> = {
  Approve: RECORDS.approved,
  Reject: RECORDS.rejected,
  'Request changes': OTHERS.iteration,
  'Cancel the request for changes': OTHERS.side_effect,
};

/** The effect in words, where the label is not the plain one for it; else null. A label is the template's, and may say anything. */
export function effectInWords({ label, kind, decision_value }: TemplateAction): string | null {
  const effect = decision_value === undefined ? OTHERS[kind] : RECORDS[decision_value];
  return Object.hasOwn(PLAIN, label) && PLAIN[label] === effect ? null : effect;
}
