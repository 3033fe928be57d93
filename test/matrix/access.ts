/**
 * What each actor is told, by the class of the route (HRP §0, §1; decisions 7, 15, 30). A row states its own class and scope, so that a
 * change of the table of operations shows here.
 */
import type { Actor } from './actors.js';

/** `<status> <code>` of a refusal, or the status of a success. */
export type Outcome = string;

/**
 * - public: nobody is asked who they are.
 * - key: an API key; what is none is not looked at.
 * - submitting: an API key; a session is told that it is forbidden.
 * - either: a key or a session, with the scope.
 * - member, admin: a session, the latter of an admin.
 * - human: a session with the scope; a key is told so before anything else.
 */
export type Class = 'public' | 'key' | 'submitting' | 'either' | 'member' | 'admin' | 'human';

export interface Rules {
  access: Class;
  scope?: Scope;
  /** What those are answered who may. */
  ok: Outcome;
  /** What a caller of another project is answered: an object that is not theirs does not exist (decision 15). `ok` where it is their own. */
  stranger: Outcome;
  /** What a key is answered that is limited to another template; `ok` where no template is concerned. */
  limited: Outcome;
  /** What those are answered who bring nothing; what the class says when omitted. */
  uncredentialed?: Outcome;
  /** Cells that are not what the class says. */
  cells?: Partial<Record<Actor, Outcome>>;
}

type Scope =
  | `reviews:${'create' | 'read' | 'decide' | 'claim' | 'assign' | 'release'}`
  | `templates:${'read' | 'write'}`
  | 'feedback:read'
  | 'audit:read'
  | 'stats:read';

const REVIEWERS_SCOPES: readonly Scope[] = [
  'reviews:read',
  'reviews:decide',
  'reviews:claim',
  'reviews:release',
  'templates:read',
  'stats:read',
];

type Kind = 'good key' | 'bad key' | 'person' | 'bad session' | 'none';

const KINDS: Record<Actor, Kind> = {
  'requesting key': 'good key',
  'another key': 'good key',
  'key of another scope': 'good key',
  'key of another template': 'good key',
  'key whose owner has left': 'good key',
  "another project's key": 'good key',
  'disabled key': 'bad key',
  'deleted key': 'bad key',
  'rotated key': 'bad key',
  'expired key': 'bad key',
  'key from elsewhere': 'bad key',
  'key nobody made': 'bad key',
  'key as a cookie': 'bad session',
  reviewer: 'person',
  admin: 'person',
  'owner of the key': 'person',
  'person it was asked for': 'person',
  "another project's reviewer": 'person',
  "another project's admin": 'person',
  "another project's admin naming this one": 'person',
  'removed person': 'bad session',
  'signed-out person': 'bad session',
  'revoked session': 'bad session',
  'expired session': 'bad session',
  nobody: 'none',
  garbage: 'bad session',
  'basic credentials': 'none',
};

const BAD_KEYS: Partial<Record<Actor, Outcome>> = {
  'expired key': '401 key_expired',
  'key from elsewhere': '401 ip_not_allowed',
};

const ADMINS: readonly Actor[] = ['admin', "another project's admin"];
const STRANGERS: readonly Actor[] = ["another project's key", "another project's reviewer", "another project's admin"];

/** Whom nobody knows, whatever they want: what they try makes no difference after the first time. */
export const isUnknown = (actor: Actor): boolean => KINDS[actor] !== 'good key' && KINDS[actor] !== 'person';

export function expected(rules: Rules, actor: Actor): Outcome {
  const { access, ok, cells } = rules;
  if (access === 'public') return cells?.[actor] ?? ok;
  const denied = atTheDoor(rules, actor);
  if (denied !== null) return denied;
  const own = cells?.[actor];
  if (own !== undefined) return own;
  if (STRANGERS.includes(actor)) return rules.stranger;
  return actor === 'key of another template' ? rules.limited : ok;
}

/** What is said before anything is looked up: no row can soften it. */
function atTheDoor({ access, scope, uncredentialed }: Rules, actor: Actor): Outcome | null {
  const kind = KINDS[actor];
  const sessionsOnly = access === 'member' || access === 'admin';
  switch (kind) {
    case 'none':
      if (uncredentialed !== undefined) return uncredentialed;
      if (access === 'key' || access === 'submitting') return '401 missing_api_key';
      return sessionsOnly ? '401 missing_token' : '401 missing_credentials';
    case 'bad session':
      return access === 'key' || access === 'submitting' ? '401 invalid_api_key_format' : '401 invalid_token';
    case 'bad key':
      return sessionsOnly ? '401 invalid_token' : (BAD_KEYS[actor] ?? '401 invalid_api_key');
    case 'good key':
      if (sessionsOnly) return '401 invalid_token';
      if (access === 'human') return '403 human_actor_required';
      return actor === 'key of another scope' && scope !== undefined && scope !== 'stats:read' ? '403 forbidden' : null;
    case 'person':
      if (access === 'key') return '401 invalid_api_key_format';
      if (access === 'submitting' || actor === "another project's admin naming this one") return '403 forbidden';
      if (ADMINS.includes(actor)) return null;
      return access === 'admin' || (scope !== undefined && !REVIEWERS_SCOPES.includes(scope)) ? '403 forbidden' : null;
  }
}
