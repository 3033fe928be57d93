/** What an author writes about a template, made into what a version says: every default written out, every contradiction refused. */
import type { Field, TemplateConfig, TemplateCreate, TemplateFieldInput } from '@countersign/contracts';
import { actionsFrom, type TemplateRefusal } from './template-actions.js';

export type TemplateInput = Omit<TemplateCreate, 'slug'>;

function fieldFrom(input: TemplateFieldInput): Field {
  const { name, type, label, options } = input;
  const editable = input.editable ?? (input.readonly === undefined ? false : !input.readonly);
  return { name, type, label, editable, required: input.required ?? false, ...(options && { options }) };
}

const invalidField = (index: number, message: string): TemplateRefusal => ({
  code: 'invalid_fields',
  message,
  param: `fields.${index}`,
});

function fieldsFrom(inputs: readonly TemplateFieldInput[]): { fields: Field[] } | { refusal: TemplateRefusal } {
  const names = new Set<string>();
  for (const [index, { name, type, options }] of inputs.entries()) {
    if (names.has(name)) return { refusal: invalidField(index, `Two fields have the same name ${name}.`) };
    names.add(name);
    if (type === 'select' && !options?.length) return { refusal: invalidField(index, `The select ${name} needs options.`) };
    if (options && type !== 'select' && type !== 'buttons') {
      return { refusal: invalidField(index, `Only select and buttons fields have options; ${name} is of type ${type}.`) };
    }
  }
  return { fields: inputs.map(fieldFrom) };
}

export function configFrom(input: TemplateInput): { config: TemplateConfig } | { refusal: TemplateRefusal } {
  const made = fieldsFrom(input.fields);
  if ('refusal' in made) return made;
  const chosen = actionsFrom(input.actions ?? []);
  if ('refusal' in chosen) return chosen;
  const { timeout_seconds = null, timeout_action = null } = input;
  if ((timeout_seconds === null) !== (timeout_action === null)) {
    const param = timeout_seconds === null ? 'timeout_seconds' : 'timeout_action';
    return { refusal: { code: 'invalid_timeout', message: 'A timeout needs both seconds and action.', param } };
  }
  return {
    config: {
      name: input.name,
      description: input.description ?? null,
      instructions: input.instructions ?? null,
      fields: made.fields,
      actions: chosen.actions,
      default_priority: input.default_priority ?? 'normal',
      auto_approve: input.auto_approve ?? false,
      timeout_seconds,
      timeout_action,
      allow_timeout_auto_approve: input.allow_timeout_auto_approve ?? false,
      changes_timeout_hours: input.changes_timeout_hours ?? null,
      approval_valid_seconds: input.approval_valid_seconds ?? null,
      allow_request_changes: input.allow_request_changes ?? true,
      allow_notes: input.allow_notes ?? true,
      max_iterations: input.max_iterations ?? null,
    },
  };
}

/** Whether a version lets something other than a person approve (decision 10). */
export function letsSoftwareDecide(config: TemplateConfig): boolean {
  return config.auto_approve || config.timeout_action === 'auto_approve' || config.allow_timeout_auto_approve;
}
