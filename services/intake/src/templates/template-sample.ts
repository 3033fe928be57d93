/** Begins a template from an object an author has at hand (HRP §1.3): a configuration as far as it goes, or a sample payload. */
import type { FieldType, TemplateFieldInput } from '@countersign/contracts';

const SETTINGS: ReadonlySet<string> = new Set([
  'slug',
  'name',
  'description',
  'fields',
  'actions',
  'default_priority',
  'auto_approve',
  'timeout_seconds',
  'timeout_action',
  'allow_timeout_auto_approve',
  'changes_timeout_hours',
  'instructions',
  'allow_request_changes',
  'allow_notes',
  'max_iterations',
  'approval_valid_seconds',
  'allow_monitoring',
  'enable_review_links',
  'default_auth_level',
  'default_expiry_seconds',
  'chain_config',
]);

/** Longer text, or text of several lines, is worth an editor. */
const LONG_TEXT = 200;

function typeOf(value: unknown): FieldType {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'number';
    case 'string': {
      if (/^https?:\/\/\S+$/i.test(value)) return 'url';
      if (/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/.test(value)) return 'date';
      return value.length > LONG_TEXT || value.includes('\n') ? 'markdown' : 'text';
    }
    default:
      return 'json';
  }
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** Keys that cannot be names of fields stay undeclared: a review shows them apart. */
function fieldsOf(sample: Record<string, unknown>): TemplateFieldInput[] {
  return Object.entries(sample)
    .filter(([name]) => /^[a-z0-9_]{1,64}$/.test(name))
    .map(([name, value]) => ({ name, type: typeOf(value), label: labelOf(name) }));
}

/** An object that lists fields, or has nothing but settings of a template, is a configuration; any other is a sample payload. */
export function draftOf(object: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(object.fields) || Object.keys(object).every((key) => SETTINGS.has(key))) return object;
  return { name: 'Untitled template', fields: fieldsOf(object), actions: ['approve', 'reject'] };
}
