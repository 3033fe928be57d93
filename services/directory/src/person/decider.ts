import type { Decision } from '@countersign/event-store';
import { type RefusalCode, refuse } from '../refusals.js';
import { emailKey, normalEmail } from './email.js';
import type { Person, PersonEvent } from './person.js';

type PersonDecision = Decision<PersonEvent, RefusalCode>;

const noPerson = (): PersonDecision => ({ events: [], refusal: refuse('person_not_found', 'No such person.') });

/** Registered again with the same address: nothing happens, and the password stays what it is (K9). */
export function registerPerson(
  state: Person,
  command: { email: string; name: string; passwordFingerprint: string | null },
): PersonDecision {
  if (state.status !== 'none') {
    const same = state.status === 'registered' && state.email === normalEmail(command.email);
    return same ? { events: [] } : { events: [], refusal: refuse('email_taken', 'This person id is already in use.') };
  }
  const { passwordFingerprint } = command;
  return {
    events: [
      { type: 'person.registered', body: { email: normalEmail(command.email), name: command.name } },
      ...(passwordFingerprint ? [passwordChanged(passwordFingerprint, 'registered')] : []),
    ],
    reserve: [emailKey(command.email)],
  };
}

export function renamePerson(state: Person, command: { name: string }): PersonDecision {
  if (state.status !== 'registered') return noPerson();
  return { events: state.name === command.name ? [] : [{ type: 'person.renamed', body: { name: command.name } }] };
}

/** `expected` is the password the caller proved to know: when it is no longer the current one, somebody else was faster. */
export function setPassword(
  state: Person,
  command: { fingerprint: string; reason: 'changed' | 'reset'; expected?: string | null },
): PersonDecision {
  if (state.status !== 'registered') return noPerson();
  if (state.passwordFingerprint === command.fingerprint) return { events: [] };
  if (command.expected !== undefined && state.passwordFingerprint !== command.expected) {
    return { events: [], refusal: refuse('wrong_password', 'The password was changed in the meantime. Sign in with the new one.') };
  }
  return { events: [passwordChanged(command.fingerprint, command.reason)] };
}

function passwordChanged(fingerprint: string, reason: 'registered' | 'changed' | 'reset'): PersonEvent {
  return { type: 'person.password_changed', body: { fingerprint, reason } };
}
