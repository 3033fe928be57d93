/** People, keys and stories of templates for the tests of their rules. */
import {
  type Actor,
  type AgentActor,
  type PersonActor,
  SCOPES,
  type Template,
  type TemplateCreate,
  type TemplateEvent,
} from '@countersign/contracts';
import { given, type Story } from '@countersign/testing';
import { type TemplateState, templateFold, templateToWire } from './template.js';
import {
  changeDraft,
  createTemplate,
  deleteTemplate,
  draftTemplate,
  pauseTemplate,
  publishTemplate,
  updateTemplate,
} from './template-decider.js';

export const id = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(26, '0')}`;
export const [PROJECT, OTHER, TEMPLATE] = [id('prj', 1), id('prj', 2), id('tpl', 12_345_678)];

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
export const chief: PersonActor = {
  kind: 'person',
  person_id: id('per', 1),
  email: 'chief@example.org',
  name: 'Chief',
  project_id: PROJECT,
  roles: { [PROJECT]: 'admin' },
  session_id: id('ses', 1),
  auth: { method: 'password', at: '2026-11-30T08:59:00.000Z' },
};
export const reviewer: PersonActor = { ...chief, person_id: id('per', 2), roles: { [PROJECT]: 'reviewer' } };
export const stranger: PersonActor = { ...chief, person_id: id('per', 3), roles: { [OTHER]: 'admin' } };
export const foreignAgent: AgentActor = { ...agent, project_id: OTHER };

export type Told = Story<TemplateState, TemplateEvent>;
export const empty = (): Told => given({ fold: templateFold, stream: TEMPLATE, project: PROJECT });

export const BODY: TemplateCreate = {
  slug: 'mail',
  name: 'Mail',
  fields: [{ name: 'subject', type: 'text', label: 'Subject', editable: true }],
};
export const APPROVING: Partial<TemplateCreate>[] = [
  { auto_approve: true },
  { timeout_seconds: 60, timeout_action: 'auto_approve' },
  { allow_timeout_auto_approve: true },
];

export const making =
  (body: Partial<TemplateCreate> = {}, actor: Actor = agent) =>
  (state: TemplateState) =>
    createTemplate({ template_id: TEMPLATE, project_id: PROJECT, actor, body: { ...BODY, ...body } }, state);
export const drafting =
  (object: Record<string, unknown>, actor: Actor = agent) =>
  (state: TemplateState) =>
    draftTemplate({ template_id: TEMPLATE, project_id: PROJECT, actor, object }, state);
export const changing =
  (object: Record<string, unknown>, actor: Actor = agent) =>
  (state: TemplateState) =>
    changeDraft({ actor, object }, state);
export const updating =
  (body: Parameters<typeof updateTemplate>[0]['body'], actor: Actor = agent) =>
  (state: TemplateState) =>
    updateTemplate({ actor, body }, state);
export const plain =
  (command: typeof publishTemplate, actor: Actor = agent) =>
  (state: TemplateState) =>
    command({ actor }, state);
export const publishing = (actor?: Actor) => plain(publishTemplate, actor);
export const deleting =
  (more: { force?: boolean; open_reviews?: number; actor?: Actor } = {}) =>
  (state: TemplateState) =>
    deleteTemplate({ actor: agent, force: false, open_reviews: 0, ...more }, state);

export const made = (body?: Partial<TemplateCreate>, actor?: Actor) => empty().when(making(body, actor)).next;
export const drafted = (object: Record<string, unknown> = { ...BODY }) => empty().when(drafting(object)).next;
export const paused = (story = made()) => story.when(plain(pauseTemplate)).next;
export const deleted = () => made().when(deleting()).next;
export const wire = (story: Told) => templateToWire(story.state) as Template;
