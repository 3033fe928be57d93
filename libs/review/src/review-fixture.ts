/** People, keys, templates and stories for the tests of the rules. */
import type { Action, AgentActor, Field, PersonActor, ReviewCreate, ReviewEvent, Role, TemplateConfig } from '@countersign/contracts';
import { SCOPES } from '@countersign/contracts';
import { given, type Story } from '@countersign/testing';
import { type ActOnReview, act } from './commands/decide.js';
import { type RequestedTemplate, request } from './commands/submit.js';
import { reviewFold } from './review.js';
import { PRESETS } from './rules/actions.js';
import type { ReviewState } from './state.js';

const id = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(26, '0')}`;

export const PROJECT = id('prj', 1);
export const OTHER_PROJECT = id('prj', 2);
export const REVIEW = id('rev', 1);
export const TEMPLATE = id('tpl', 1);
export const START = '2026-11-30T09:00:00.000Z';

export function person(name: string, role: Role | null = 'reviewer', more: Partial<PersonActor> = {}): PersonActor {
  const n = [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1_000_000;
  return {
    kind: 'person',
    person_id: id('per', n),
    email: `${name}@example.org`,
    name,
    project_id: PROJECT,
    roles: role === null ? {} : { [PROJECT]: role },
    session_id: id('ses', n),
    auth: { method: 'password', at: '2026-11-30T08:59:00.000Z' },
    ...more,
  };
}

export const ann = person('ann');
export const bob = person('bob');
export const chief = person('chief', 'admin');
export const owner = person('owner', 'admin');
/** Has a role in another project only. */
export const stranger = person('stranger', null, { roles: { [OTHER_PROJECT]: 'admin' } });

export const agent: AgentActor = {
  kind: 'agent',
  key_id: id('key', 1),
  key_prefix: 'gwk_0123abcd',
  name: 'mailer',
  project_id: PROJECT,
  scopes: [...SCOPES],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
};
export const ownedAgent: AgentActor = { ...agent, key_id: id('key', 2), key_prefix: 'gwk_4567cdef', owner: owner.person_id };
export const foreignAgent: AgentActor = { ...agent, key_id: id('key', 3), project_id: OTHER_PROJECT };

export const FIELDS: Field[] = [
  { name: 'subject', type: 'text', label: 'Subject', editable: true, required: true },
  { name: 'body', type: 'markdown', label: 'Body', editable: true, required: false },
  { name: 'recipients', type: 'number', label: 'Recipients', editable: false, required: false },
];

export const SHIP: Action = { id: 'ship', label: 'Ship it', kind: 'decision', decision_value: 'approved' };
export const ESCALATE: Action = { id: 'escalate', label: 'Escalate', kind: 'side_effect', webhook_event: 'mail.escalated' };

export const CONFIG: TemplateConfig = {
  name: 'Mail',
  description: null,
  instructions: 'Read it aloud.',
  fields: FIELDS,
  actions: [PRESETS.approve, PRESETS.reject, ESCALATE],
  default_priority: 'normal',
  auto_approve: false,
  timeout_seconds: null,
  timeout_action: null,
  allow_timeout_auto_approve: false,
  changes_timeout_hours: null,
  approval_valid_seconds: null,
  allow_request_changes: true,
  allow_notes: true,
  max_iterations: null,
};

export const PAYLOAD = { subject: 'Hello', body: 'Dear all', recipients: 3, tracking: { campaign: 'x' } };

export function template(config: Partial<TemplateConfig> = {}, more: Partial<RequestedTemplate> = {}): RequestedTemplate {
  return {
    id: TEMPLATE,
    project_id: PROJECT,
    slug: 'mail',
    status: 'active',
    published: { version: 4, config: { ...CONFIG, ...config } },
    ...more,
  };
}

export interface Asked {
  /** REVIEW when omitted. */
  review?: string;
  config?: Partial<TemplateConfig>;
  body?: Partial<ReviewCreate>;
  actor?: AgentActor;
  assignee?: PersonActor;
  on_behalf_of?: PersonActor;
}

export const empty = (): Story<ReviewState, ReviewEvent> => given({ fold: reviewFold, stream: REVIEW, project: PROJECT, start: START });

/** The command behind `asked`. */
export function asking({ review = REVIEW, config, body, actor = agent, assignee, on_behalf_of }: Asked = {}) {
  return (state: ReviewState, now: string) =>
    request(
      {
        review_id: review,
        actor,
        template: template(config),
        body: { template: 'mail', payload: PAYLOAD, ...(assignee && { assignee: assignee.email }), ...body },
        assignee_id: assignee?.person_id ?? null,
        on_behalf_of: on_behalf_of ? { person_id: on_behalf_of.person_id, email: on_behalf_of.email } : null,
      },
      state,
      now,
    );
}

/** A review was requested. */
export const asked = (how: Asked = {}): Story<ReviewState, ReviewEvent> => empty().when(asking(how)).next;

/** A person does something. */
export function doing(actor: PersonActor | AgentActor, action: ActOnReview['action'] | string, more: Partial<ActOnReview> = {}) {
  const choice = typeof action === 'string' ? { id: action } : action;
  return (state: ReviewState, now: string) => act({ actor, action: choice, ...more }, state, now);
}

export const DAY = 86_400;
/** A window of a day that ends as `action` says. */
export const within = (action: 'auto_approve' | 'auto_reject' | 'expire', seconds = DAY): Asked => ({
  config: { timeout_seconds: seconds, timeout_action: action },
});

/** Time that many seconds after START. */
export const at = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();
