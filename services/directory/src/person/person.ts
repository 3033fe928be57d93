import type { PersonPasswordChanged, PersonRegistered, PersonRenamed } from '@countersign/contracts';
import type { DomainEvent, Fold, StoredEvent } from '@countersign/event-store';
import { isErasure, unknownEvent } from '../stream.js';

/** A person of the installation (K2). In which projects they are, and as what, is in the projects' streams. */
export type PersonEvent =
  | DomainEvent<'person.registered', PersonRegistered>
  | DomainEvent<'person.renamed', PersonRenamed>
  | DomainEvent<'person.password_changed', PersonPasswordChanged>;

export interface RegisteredPerson {
  status: 'registered';
  email: string;
  name: string;
  /** Names the row of the current password; null while the person has none and signs in by link only. */
  passwordFingerprint: string | null;
  /** Set by an operator: the person is asked to choose their own. */
  passwordIsTemporary: boolean;
  registeredAt: string;
}

export type Person = { status: 'none' } | { status: 'erased' } | RegisteredPerson;

export const personFold: Fold<Person, PersonEvent> = {
  initial: () => ({ status: 'none' }),
  evolve(state, event: StoredEvent<PersonEvent>) {
    // Erasure takes the person out of the directory, whatever else the stream says.
    if (isErasure(event) || state.status === 'erased') return { status: 'erased' };
    if (event.type === 'person.registered') {
      const { email, name } = event.body;
      return { status: 'registered', email, name, passwordFingerprint: null, passwordIsTemporary: false, registeredAt: event.time };
    }
    if (state.status === 'none') throw new Error(`Person ${event.stream} begins with ${event.type}: its stream is damaged.`);
    switch (event.type) {
      case 'person.renamed':
        return { ...state, name: event.body.name };
      case 'person.password_changed':
        return { ...state, passwordFingerprint: event.body.fingerprint, passwordIsTemporary: event.body.reason === 'reset' };
      default:
        return unknownEvent(event);
    }
  },
};
