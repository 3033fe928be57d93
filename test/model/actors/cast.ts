/** Who is in a schedule, and what they are asked about. */
import { type AgentActor, type PersonActor, type Role, SCOPES, type TemplateConfig } from '@countersign/contracts';
import { PRESETS } from '@countersign/review';
import type { Chance } from '../world/chance.js';

const id = (prefix: string, n: number): string => `${prefix}_${String(n).padStart(26, '0')}`;

export const PROJECT = id('prj', 1);
export const TEMPLATE = id('tpl', 1);
const ELSEWHERE = id('prj', 2);

const person = (n: number, name: string, roles: Record<string, Role>): PersonActor => ({
  kind: 'person',
  person_id: id('per', n),
  email: `${name}@example.org`,
  name,
  project_id: PROJECT,
  roles,
  session_id: id('ses', n),
  auth: { method: 'password', at: '2026-01-01T00:00:00.000Z' },
});

const here = (role: Role) => ({ [PROJECT]: role });
export const ANN = person(1, 'ann', here('reviewer'));
export const BOB = person(2, 'bob', here('reviewer'));
/** Admin; answers for the second key. */
export const OWNER = person(3, 'owner', here('admin'));
/** Has left, and does not know yet. */
export const LEE = person(4, 'lee', here('reviewer'));
export const STRANGER = person(5, 'stranger', { [ELSEWHERE]: 'admin' });
export const PEOPLE = [ANN, ANN, BOB, BOB, OWNER, LEE, STRANGER];

const key = (n: number, owner: string | null): AgentActor => ({
  kind: 'agent',
  key_id: id('key', n),
  key_prefix: `gwk_0000000${n}`,
  name: `agent ${n}`,
  project_id: n === 9 ? ELSEWHERE : PROJECT,
  scopes: [...SCOPES],
  template_ids: null,
  owner,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
});
export const AGENT = key(1, null);
export const OWNED = key(2, OWNER.person_id);
export const FOREIGN = key(9, null);

/** What the agent asks about: `n` counts its versions, `subject` may be edited. */
export const payloadOf = (n: number): Record<string, unknown> => ({ subject: `mail ${n}`, n });

export function templateOf(chance: Chance): TemplateConfig {
  const action = chance.pick(['auto_approve', 'auto_reject', 'expire', null] as const);
  return {
    name: 'Mail',
    description: null,
    instructions: null,
    fields: [
      { name: 'subject', type: 'text', label: 'Subject', editable: true, required: true },
      { name: 'n', type: 'number', label: 'N', editable: false, required: false },
    ],
    actions: [PRESETS.approve, PRESETS.reject, { id: 'note', label: 'Note', kind: 'side_effect' }],
    default_priority: 'normal',
    auto_approve: chance.yes(0.03),
    timeout_seconds: action === null ? null : chance.pick([100, 1_000, 5_000]),
    timeout_action: action,
    allow_timeout_auto_approve: false,
    changes_timeout_hours: chance.yes(0.5) ? 1 : null,
    approval_valid_seconds: chance.yes(0.4) ? 60 : null,
    allow_request_changes: !chance.yes(0.05),
    allow_notes: true,
    max_iterations: chance.pick([null, null, 1, 2]),
  };
}
