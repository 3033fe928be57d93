/** Templates: what lets software or the clock approve is put in force by a person (decisions 10, 19). */
import type { Template } from '@countersign/contracts';
import type { Outcome } from './access.js';
import type { Actor } from './actors.js';
import type { Attempt } from './attempt.js';
import type { Row, Rows } from './row.js';
import { SELF_DECIDING, type SelfDeciding, type Stage } from './stage.js';

const KINDS = Object.keys(SELF_DECIDING) as SelfDeciding[];
const writing = {
  access: 'either',
  scope: 'templates:write',
  ok: '200',
  stranger: '404 template_not_found',
  limited: '404 template_not_found',
} as const;
const making = { ...writing, ok: '201', stranger: '201', limited: '403 template_not_allowed' } as const;
const reading = { ...writing, scope: 'templates:read' } as const;

const KEYS: readonly Actor[] = ['requesting key', 'another key', 'key whose owner has left'];
const REFUSED: Outcome = '403 human_actor_required';
/** No key, whatever it may otherwise do. */
const people = { cells: Object.fromEntries(KEYS.map((key) => [key, REFUSED])) as Record<Actor, Outcome> };

const on =
  (make: (stage: Stage) => Promise<Template>, rest: Omit<Attempt, 'path' | 'untouched'> = {}) =>
  async (stage: Stage): Promise<Attempt> => {
    const { id } = await make(stage);
    return { path: { id }, untouched: { template: id }, ...rest };
  };
const fresh = (stage: Stage) => stage.freshTemplate();

/** A template in force with a draft over it. */
const drafted =
  (kind: 'plain' | SelfDeciding, draft: Record<string, unknown>) =>
  async (stage: Stage): Promise<Template> => {
    const { id } = await stage.freshTemplate(kind);
    return stage.cast.server.admin.do('replaceTemplateDraft', { path: { id }, body: draft });
  };

const each = (row: (kind: SelfDeciding) => Row): Row[] => KINDS.map(row);

/** Whoever may draft puts nothing in force by it. */
const staysOff: Row['proves'] = ({ auto_approve, timeout_action, allow_timeout_auto_approve }) => [
  { auto_approve, timeout_action, allow_timeout_auto_approve },
  { auto_approve: false, timeout_action: null, allow_timeout_auto_approve: false },
];

export const TEMPLATE_ROWS = {
  createTemplate: [
    { ...making, tries: 'to publish a plain one', attempt: (stage) => ({ body: { ...stage.config() } }) },
    ...each((kind) => ({
      ...making,
      ...people,
      tries: `to publish one that ${kind}`,
      attempt: (stage) => ({ body: { ...stage.config(SELF_DECIDING[kind]) } }),
      cells: { ...people.cells, "another project's key": REFUSED },
    })),
    {
      ...making,
      tries: 'to publish one that rejects by the clock',
      attempt: (stage) => ({ body: { ...stage.config({ timeout_seconds: 3_600, timeout_action: 'auto_reject' }) } }),
    },
  ],
  listTemplates: [{ ...reading, tries: 'to list', attempt: () => ({}), stranger: '200', limited: '200' }],
  getTemplate: [{ ...reading, tries: 'to read', attempt: on((stage) => stage.template()) }],
  updateTemplate: [
    { ...writing, tries: 'to publish a plain change', attempt: on(fresh, { body: { name: 'Another' } }) },
    ...each((kind) => ({
      ...writing,
      ...people,
      tries: `to make one that ${kind} of a plain one`,
      attempt: on(fresh, { body: { ...SELF_DECIDING[kind] } }),
    })),
    ...each((kind) => ({
      ...writing,
      ...people,
      tries: `to publish a change of one that ${kind}`,
      attempt: on((stage) => stage.freshTemplate(kind), { body: { name: 'Another' } }),
    })),
    {
      ...writing,
      tries: 'to make a plain one of one that approves by itself',
      attempt: on((stage) => stage.freshTemplate('approves by itself'), { body: { auto_approve: false } }),
    },
  ],
  createTemplateDraft: [
    { ...making, tries: 'to begin a draft', attempt: () => ({ body: { subject: 'A sample', amount: 3 } }) },
    ...each((kind) => ({
      ...making,
      tries: `to begin a draft that ${kind}`,
      attempt: (stage) => ({ body: { ...stage.config(SELF_DECIDING[kind]) } }),
      proves: staysOff,
    })),
  ],
  replaceTemplateDraft: [
    { ...writing, tries: 'to draft a change', attempt: on(fresh, { body: { name: 'Another' } }) },
    ...each((kind) => ({
      ...writing,
      tries: `to draft that it ${kind}`,
      attempt: on(fresh, { body: { ...SELF_DECIDING[kind] } }),
      proves: staysOff,
    })),
  ],
  discardTemplateDraft: [{ ...writing, tries: 'to discard a draft', attempt: on(drafted('plain', { name: 'Another' })) }],
  publishTemplate: [
    { ...writing, tries: 'to publish a plain draft', attempt: on((stage) => stage.draft()) },
    { ...writing, tries: 'to publish a draft of a plain change', attempt: on(drafted('plain', { name: 'Another' })) },
    ...each((kind) => ({ ...writing, ...people, tries: `to publish a draft that ${kind}`, attempt: on((stage) => stage.draft(kind)) })),
    ...each((kind) => ({
      ...writing,
      ...people,
      tries: `to publish a draft over a plain one that then ${kind}`,
      attempt: on(drafted('plain', { ...SELF_DECIDING[kind] })),
    })),
    ...each((kind) => ({
      ...writing,
      ...people,
      tries: `to publish a draft of another name over one that ${kind}`,
      attempt: on(drafted(kind, { name: 'Another' })),
    })),
  ],
  pauseTemplate: [{ ...writing, tries: 'to pause', attempt: on(fresh) }],
  resumeTemplate: [
    { ...writing, tries: 'to resume a plain one', attempt: on((stage) => stage.paused()) },
    ...each((kind) => ({ ...writing, ...people, tries: `to resume one that ${kind}`, attempt: on((stage) => stage.paused(kind)) })),
    { ...writing, tries: 'to resume what is not paused', attempt: on(fresh), ok: '400 invalid_template_state' },
  ],
  deleteTemplate: [{ ...writing, tries: 'to delete', attempt: on(fresh) }],
  getTemplateStats: [{ ...reading, scope: 'stats:read', tries: 'to count', attempt: on((stage) => stage.template()) }],
} as const satisfies Partial<Rows>;
