/** The actions of a template, from the three shapes an author may write into the one that is kept (HRP §3.3). */
import type { Action, ErrorCode, TemplateActionInput, TemplateActionObject } from '@countersign/contracts';
import type { Refusal } from '@countersign/event-store';
import { PRESETS, RESERVED_ACTION_IDS } from '@countersign/review';

export type TemplateRefusal = Refusal<ErrorCode>;

/** HRP's words for what every review offers anyway: naming them adds nothing. */
const IMPLIED: ReadonlySet<string> = new Set(['edit', ...RESERVED_ACTION_IDS]);

/** Preset each word of the short forms stands for. */
const WORDS: Record<string, keyof typeof PRESETS> = {
  approve: 'approve',
  approved: 'approve',
  reject: 'reject',
  rejected: 'reject',
  request_changes: 'request_changes',
  changes_requested: 'request_changes',
  retry: 'request_changes',
};

const preset = (word: string): Action | undefined => {
  const name = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  return name && { ...PRESETS[name] };
};

function refuse(code: ErrorCode, message: string, index?: number): TemplateRefusal {
  return { code, message, param: index === undefined ? 'actions' : `actions.${index}` };
}

/**
 * What an action whose id is one of HRP's words must do. A person reads the word and trusts it, so nobody who writes a template may make
 * `reject` approve. `retry` is left to its author: "Retry" may well be what is approved.
 */
const MEANINGS: Readonly<Record<string, Pick<Action, 'kind' | 'decision_value'>>> = Object.fromEntries(
  Object.entries(WORDS)
    .filter(([word]) => word !== 'retry')
    .map(([word, name]) => [word, PRESETS[name]]),
);

const SAYS = { approved: 'approve', rejected: 'reject' } as const;

function withoutItsMeaning({ id, kind, decision_value }: Action, index: number): TemplateRefusal | null {
  const meaning = Object.hasOwn(MEANINGS, id) ? MEANINGS[id] : undefined;
  if (!meaning || (kind === meaning.kind && decision_value === meaning.decision_value)) return null;
  const does = meaning.decision_value ? `${SAYS[meaning.decision_value]} the review` : 'ask for changes';
  return refuse('invalid_actions', `The action id ${id} is built in and can only ${does}. Give this action another id.`, index);
}

/** `{type, label, value}`: the type says what it does, the value is its id. */
function fromShortForm({ type = '', label, value }: TemplateActionObject): Action | null {
  const like = preset(type) ?? (type === 'decision' && value !== undefined ? preset(value) : undefined);
  const id = value !== undefined && /^[a-z0-9_]+$/.test(value) ? value : (like?.id ?? '');
  if (id === '' || label === undefined) return null;
  return like ? { ...like, id, label } : { id, label, kind: 'side_effect' };
}

/** What is null or left out is not said; a preset's id brings what the preset says. */
function fromCanonical(input: TemplateActionObject): Action | null {
  const { type: _type, value: _value, ...said } = input;
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== undefined)) as Partial<Action>;
  if (given.id === undefined) return null;
  const like =
    Object.hasOwn(PRESETS, given.id) && (given.kind === undefined || given.kind === preset(given.id)?.kind) ? preset(given.id) : undefined;
  const kind = given.kind ?? like?.kind ?? (given.decision_value === undefined ? undefined : 'decision');
  const label = given.label ?? like?.label;
  return kind === undefined || label === undefined ? null : { ...like, ...given, id: given.id, kind, label };
}

function canonical(input: TemplateActionInput): Action | null {
  if (typeof input === 'string') return preset(input) ?? null;
  return input.id === undefined && input.kind === undefined ? fromShortForm(input) : fromCanonical(input);
}

function contradiction(action: Action, index: number): TemplateRefusal | null {
  const { id, kind, decision_value, webhook_event } = action;
  if (RESERVED_ACTION_IDS.includes(id)) return refuse('invalid_actions', `The action id ${id} is reserved.`, index);
  if (kind === 'decision' && decision_value === undefined) {
    return refuse(
      'template.missing_decision_value',
      `The action ${id} is a deciding action and needs the value approved or rejected.`,
      index,
    );
  }
  if (kind !== 'decision' && decision_value !== undefined) {
    return refuse(
      'template.unexpected_decision_value',
      `The action ${id} is not a deciding action and cannot have the value ${decision_value}.`,
      index,
    );
  }
  if (kind === 'decision' && webhook_event !== undefined) {
    return refuse(
      'template.unexpected_webhook_event',
      `The action ${id} is a deciding action; its webhook event is always review.decided.`,
      index,
    );
  }
  return withoutItsMeaning(action, index);
}

function twice<T>(values: readonly T[]): T | undefined {
  return values.find((value, i) => values.indexOf(value) !== i);
}

/** No actions at all means approve and reject. */
export function actionsFrom(inputs: readonly TemplateActionInput[]): { actions: Action[] } | { refusal: TemplateRefusal } {
  const said = inputs.filter((input) => typeof input !== 'string' || !IMPLIED.has(input));
  const actions: Action[] = [];
  for (const [index, input] of (said.length === 0 ? ['approve', 'reject'] : said).entries()) {
    const action = canonical(input);
    if (action === null) return { refusal: refuse('invalid_actions', 'An action needs an id, a label and a type.', index) };
    const refusal = contradiction(action, index);
    if (refusal) return { refusal };
    actions.push(action);
  }
  const id = twice(actions.map((action) => action.id));
  if (id !== undefined) return { refusal: refuse('template.duplicate_action_id', `Two actions have the same id ${id}.`) };
  const decisions = actions.flatMap((action) => action.decision_value ?? []);
  const value = twice(decisions);
  if (value !== undefined) return { refusal: refuse('template.duplicate_decision_value', `Two actions have the value ${value}.`) };
  if (decisions.length === 0)
    return { refusal: refuse('template.no_terminal_action', 'A template needs at least one action that approves or rejects.') };
  return { actions };
}
