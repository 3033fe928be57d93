import {
  type Actor,
  type AgentActor,
  type ErrorCode,
  type Operation,
  type PersonActor,
  ROLE_SCOPES,
  type Scope,
} from '@countersign/contracts';
import { type Credential, isApiKey } from './credential.js';

/** Why a caller may not come in. */
export interface Denial {
  code: ErrorCode;
  message?: string;
  missing_scopes?: Scope[];
}

/**
 * What can be said before the credential is looked up: whether there is one, and of the right kind (HRP §0).
 * Null when it has to be looked up.
 */
export function denyUnseen(operation: Operation, credential: Credential | null): Denial | null {
  switch (operation.access) {
    case 'public':
      return null;
    case 'key':
      if (credential === null) return { code: 'missing_api_key' };
      return isApiKey(credential) || takesSessionsElsewhere(operation) ? null : { code: 'invalid_api_key_format' };
    case 'session':
    case 'admin':
      if (credential === null) return { code: 'missing_token' };
      return isApiKey(credential)
        ? { code: 'invalid_token', message: 'This route requires a session; an API key cannot act as a person.' }
        : null;
    case 'key_or_session':
    case 'human':
      return credential === null ? { code: 'missing_credentials' } : null;
  }
}

/** HRP answers a session that submits with 403, where other key routes do not look at it (HRP §1.2). */
function takesSessionsElsewhere(operation: Operation): boolean {
  return operation.scopes.includes('reviews:create');
}

/** A key is of one project: it does not work in another because a header says so, and is not answered as if it had. */
export function denyForeignProject(actor: AgentActor | PersonActor, header: string | string[] | undefined): Denial | null {
  if (actor.kind !== 'agent' || header === undefined || header === '' || header === actor.project_id) return null;
  return {
    code: 'forbidden',
    message: 'X-Project-Id names another project than that of the API key. Leave it out, or use a key of that project.',
  };
}

/** Whether a known caller may call the operation at all: kind, then role, then scopes. Nothing has been looked up yet (decision 7). */
export function denyKnown(operation: Operation, actor: AgentActor | PersonActor): Denial | null {
  if (operation.access === 'key' && actor.kind !== 'agent') {
    return { code: 'forbidden', message: 'Only API keys may submit reviews.' };
  }
  if (operation.access === 'human' && actor.kind === 'agent') return { code: 'human_actor_required' };
  if (operation.access === 'admin' && roleOf(actor) !== 'admin') {
    return { code: 'forbidden', message: 'Only an admin of the project may do this.' };
  }
  const missing = operation.scopes.filter((scope) => !scopesOf(actor).includes(scope));
  if (missing.length === 0) return null;
  return {
    code: 'forbidden',
    message: `Missing ${missing.length === 1 ? 'scope' : 'scopes'}: ${missing.join(', ')}.`,
    missing_scopes: missing,
  };
}

export function scopesOf(actor: Actor): readonly Scope[] {
  if (actor.kind === 'agent') return actor.scopes;
  const role = roleOf(actor);
  return role ? ROLE_SCOPES[role] : [];
}

function roleOf(actor: Actor) {
  return actor.kind === 'person' ? actor.roles[actor.project_id] : undefined;
}

/** What a credential is counted and remembered under: the key, or the person over all sessions. */
export function callerId(actor: Actor): string | null {
  if (actor.kind === 'agent') return actor.key_id;
  return actor.kind === 'person' ? actor.person_id : null;
}
