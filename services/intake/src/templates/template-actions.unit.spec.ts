import { Action, type TemplateActionInput, validator } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { actionsFrom } from './template-actions.js';
import { configFrom } from './template-config.js';

const approve = { id: 'approve', label: 'Approve', kind: 'decision', decision_value: 'approved', style: 'primary' } as const;
const reject = {
  id: 'reject',
  label: 'Reject',
  kind: 'decision',
  decision_value: 'rejected',
  requires_feedback: true,
  confirmation: true,
  style: 'destructive',
} as const;
const request_changes = {
  id: 'request_changes',
  label: 'Request changes',
  kind: 'iteration',
  requires_feedback: true,
  style: 'secondary',
} as const;

const made = (inputs: TemplateActionInput[]) => {
  const result = actionsFrom(inputs);
  if ('refusal' in result) throw new Error(result.refusal.message);
  for (const action of result.actions) expect(validator(Action, 'exact')(action)).toMatchObject({ ok: true });
  return result.actions;
};
const code = (inputs: TemplateActionInput[]) => {
  const result = actionsFrom(inputs);
  return 'refusal' in result ? [result.refusal.code, result.refusal.param] : 'accepted';
};

describe('the three shapes of an action (HRP §3.3)', () => {
  const cases: [string, TemplateActionInput[], object[]][] = [
    ['none at all: approve and reject', [], [approve, reject]],
    ['presets by name', ['approve', 'reject', 'request_changes'], [approve, reject, request_changes]],
    ['what every review offers anyway adds nothing', ['edit', 'approve', 'cancel_iteration', 'reject_from_iteration'], [approve]],
    ['nothing but that: approve and reject', ['edit'], [approve, reject]],
    ['HRP’s other words', ['approved', 'retry'], [approve, request_changes]],
    ['a short form of a preset', [{ type: 'approve', label: 'Ship', value: 'ship' }], [{ ...approve, id: 'ship', label: 'Ship' }]],
    [
      'a short form by its decision',
      [{ type: 'decision', label: 'No', value: 'rejected' }, 'approve'],
      [{ ...reject, id: 'rejected', label: 'No' }, approve],
    ],
    ['a short form whose value is no id', [{ type: 'approve', label: 'Go', value: 'Let’s go' }], [{ ...approve, label: 'Go' }]],
    ['a short form without a value', [{ type: 'reject', label: 'No' }, 'approve'], [{ ...reject, label: 'No' }, approve]],
    [
      'a short form of its own',
      ['approve', { type: 'custom', label: 'Escalate', value: 'escalate' }],
      [approve, { id: 'escalate', label: 'Escalate', kind: 'side_effect' }],
    ],
    [
      'a decision no word stands for',
      ['approve', { type: 'decision', label: 'Later', value: 'later' }],
      [approve, { id: 'later', label: 'Later', kind: 'side_effect' }],
    ],
    [
      'a canonical action',
      [{ id: 'ship', label: 'Ship', kind: 'decision', decision_value: 'approved', order: 2 }],
      [{ id: 'ship', label: 'Ship', kind: 'decision', decision_value: 'approved', order: 2 }],
    ],
    [
      'a canonical action that says no kind but decides',
      [{ id: 'ship', label: 'Ship', decision_value: 'approved' }],
      [{ id: 'ship', label: 'Ship', kind: 'decision', decision_value: 'approved' }],
    ],
    ['a preset with other words', [{ id: 'approve', label: 'Send it' }], [{ ...approve, label: 'Send it' }]],
    [
      'a preset that needs no feedback here',
      ['approve', { id: 'reject', kind: 'decision', requires_feedback: false }],
      [approve, { ...reject, requires_feedback: false }],
    ],
    [
      'a built-in id with the meaning it has',
      [{ ...approve }, { ...reject, label: 'Decline', style: 'warning' }, { ...request_changes, requires_feedback: false }],
      [approve, { ...reject, label: 'Decline', style: 'warning' }, { ...request_changes, requires_feedback: false }],
    ],
    [
      'to retry as what is approved',
      [{ id: 'retry', label: 'Retry the job', kind: 'decision', decision_value: 'approved' }],
      [{ id: 'retry', label: 'Retry the job', kind: 'decision', decision_value: 'approved' }],
    ],
    [
      'nulls say nothing',
      [{ id: 'approve', label: 'OK', description: null, style: null, icon: null, webhook_event: null }],
      [{ ...approve, label: 'OK' }],
    ],
  ];
  it.each(cases)('%s', (_what, inputs, actions) => {
    expect(made(inputs)).toEqual(actions);
  });

  it('never hands out the preset itself', () => {
    const [first] = made(['approve']);
    (first as Action).label = 'changed';
    expect(made(['approve'])).toEqual([approve]);
  });
});

describe('actions that contradict themselves or each other', () => {
  const decide = { id: 'ok', label: 'OK', kind: 'decision' as const, decision_value: 'approved' as const };
  const cases: [string, TemplateActionInput[], string, string][] = [
    ['an unknown name', ['approve', 'ship-it'], 'invalid_actions', 'actions.1'],
    ['a name of the prototype', ['constructor'], 'invalid_actions', 'actions.0'],
    ['an id alone', ['approve', { id: 'x' }], 'invalid_actions', 'actions.1'],
    ['no label', ['approve', { id: 'x', kind: 'side_effect' }], 'invalid_actions', 'actions.1'],
    ['no kind', ['approve', { id: 'x', label: 'X' }], 'invalid_actions', 'actions.1'],
    ['no id', ['approve', { kind: 'side_effect', label: 'X' }], 'invalid_actions', 'actions.1'],
    ['a short form that names nothing', ['approve', { type: 'custom', label: 'X' }], 'invalid_actions', 'actions.1'],
    ['a short form without a label', ['approve', { type: 'reject', value: 'no' }], 'invalid_actions', 'actions.1'],
    ['a short form without a type', ['approve', { label: 'X' }], 'invalid_actions', 'actions.1'],
    ['an id every review has', ['approve', { id: 'cancel_iteration', label: 'C', kind: 'side_effect' }], 'invalid_actions', 'actions.1'],
    ['a decision that says nothing', [{ id: 'x', label: 'X', kind: 'decision' }], 'template.missing_decision_value', 'actions.0'],
    ['an iteration that decides', ['approve', { ...decide, kind: 'iteration' }], 'template.unexpected_decision_value', 'actions.1'],
    ['a decision with a webhook of its own', [{ ...decide, webhook_event: 'x.y' }], 'template.unexpected_webhook_event', 'actions.0'],
    ['an id twice', [decide, { ...decide, decision_value: 'rejected' }], 'template.duplicate_action_id', 'actions'],
    ['two that approve', ['approve', decide], 'template.duplicate_decision_value', 'actions'],
    ['two that reject', ['approve', 'reject', { ...decide, decision_value: 'rejected' }], 'template.duplicate_decision_value', 'actions'],
    ['none that decides', ['request_changes'], 'template.no_terminal_action', 'actions'],
  ];
  it.each(cases)('%s', (_what, inputs, wanted, param) => {
    expect(code(inputs)).toEqual([wanted, param]);
  });
});

describe('a built-in id keeps its meaning', () => {
  const deciding = { label: 'X', kind: 'decision' as const };
  const cases: [string, TemplateActionInput][] = [
    ['reject that approves', { ...deciding, id: 'reject', decision_value: 'approved' }],
    ['reject that approves, without a kind', { id: 'reject', decision_value: 'approved' }],
    ['approve that rejects', { ...deciding, id: 'approve', decision_value: 'rejected' }],
    ['rejected that approves', { ...deciding, id: 'rejected', decision_value: 'approved' }],
    ['approved that rejects', { ...deciding, id: 'approved', decision_value: 'rejected' }],
    ['request_changes that approves', { ...deciding, id: 'request_changes', decision_value: 'approved' }],
    ['changes_requested that approves', { ...deciding, id: 'changes_requested', decision_value: 'approved' }],
    ['request_changes that does nothing', { id: 'request_changes', label: 'X', kind: 'side_effect' }],
    ['reject that does nothing', { id: 'reject', label: 'X', kind: 'side_effect' }],
    ['approve that asks for changes', { id: 'approve', label: 'X', kind: 'iteration' }],
    ['a short form that approves as reject', { type: 'approve', label: 'X', value: 'reject' }],
    ['a short form that rejects as approve', { type: 'reject', label: 'X', value: 'approve' }],
    ['a short form that does nothing as reject', { type: 'custom', label: 'X', value: 'reject' }],
  ];
  it.each(cases)('refuses %s', (_what, input) => {
    const other = { ...deciding, id: 'go', decision_value: 'approved' as const };
    expect(code([input])).toEqual(['invalid_actions', 'actions.0']);
    expect(code([other, input])).toEqual(['invalid_actions', 'actions.1']);
  });
});

describe('the fields of a template', () => {
  const config = (fields: Parameters<typeof configFrom>[0]['fields']) => configFrom({ name: 'T', fields });
  const base = { name: 'a', label: 'A' };

  it.each([
    [
      { ...base, type: 'text' as const },
      { editable: false, required: false },
    ],
    [{ ...base, type: 'text' as const, editable: true, readonly: true }, { editable: true }],
    [{ ...base, type: 'text' as const, readonly: true }, { editable: false }],
    [{ ...base, type: 'text' as const, readonly: false }, { editable: true }],
    [
      { ...base, type: 'select' as const, options: ['x'], required: true },
      { options: ['x'], required: true },
    ],
    [{ ...base, type: 'buttons' as const }, { type: 'buttons' }],
  ])('%j', (field, kept) => {
    expect(config([field])).toMatchObject({ config: { fields: [kept] } });
  });

  it.each([
    [
      'a name twice',
      [
        { ...base, type: 'text' as const },
        { ...base, type: 'number' as const },
      ],
      'fields.1',
    ],
    ['a select without options', [{ ...base, type: 'select' as const }], 'fields.0'],
    ['options that nothing shows', [{ ...base, type: 'text' as const, options: ['x'] }], 'fields.0'],
  ])('refuses %s', (_what, fields, param) => {
    expect(config(fields)).toMatchObject({ refusal: { code: 'invalid_fields', param } });
  });
});
