import type { KeyChanged, KeyCreated, KeyRotated } from '@countersign/contracts';
import type { DomainEvent, Fold, StoredEvent } from '@countersign/event-store';
import { isErasure, unknownEvent } from '../stream.js';

/** An API key of a project. The key itself is nowhere: `fingerprint` names the row that holds its hash. */
export type KeyEvent =
  | DomainEvent<'key.created', KeyCreated>
  | DomainEvent<'key.changed', KeyChanged>
  | DomainEvent<'key.rotated', KeyRotated>
  | DomainEvent<'key.disabled', Record<string, never>>
  | DomainEvent<'key.enabled', Record<string, never>>
  | DomainEvent<'key.deleted', Record<string, never>>;

/** What an operator sets on a key. */
export type KeySettings = Omit<KeyCreated, 'prefix' | 'fingerprint'>;

export interface LiveKey extends KeySettings {
  status: 'active' | 'disabled';
  /** Who answers for the key beside its owner, the first first: people who owned it before, and people it was shown to. */
  formerOwners: string[];
  project: string;
  prefix: string;
  fingerprint: string;
  createdAt: string;
  updatedAt: string;
}

export type ApiKey = { status: 'none' } | { status: 'deleted'; project: string } | LiveKey;

export const isLive = (state: ApiKey): state is LiveKey => state.status === 'active' || state.status === 'disabled';

/** The person who was shown the key by this event, and so can use it whoever owns it (decision 30); null for the owner, who counts already. */
function shownTo({ meta }: StoredEvent<KeyEvent>, owner: string | null): string | null {
  return meta.actor?.kind === 'person' && meta.actor.id !== owner ? meta.actor.id : null;
}

function withAnother(people: string[], person: string | null): string[] {
  return person === null || people.includes(person) ? people : [...people, person];
}

export const keyFold: Fold<ApiKey, KeyEvent> = {
  initial: () => ({ status: 'none' }),
  evolve(state, event: StoredEvent<KeyEvent>) {
    // A key nothing is known of any more lets nobody in.
    if (isErasure(event)) return { status: 'deleted', project: event.project };
    if (event.type === 'key.created') {
      const { body, project, time } = event;
      const formerOwners = withAnother([], shownTo(event, body.owner));
      return { ...body, formerOwners, status: 'active', project, createdAt: time, updatedAt: time };
    }
    if (state.status === 'none') throw new Error(`API key ${event.stream} begins with ${event.type}: its stream is damaged.`);
    if (state.status === 'deleted') return state;
    switch (event.type) {
      case 'key.changed': {
        const { owner } = event.body;
        const leaver = owner === undefined || owner === state.owner ? null : state.owner;
        const formerOwners = withAnother(state.formerOwners, leaver);
        return { ...state, ...event.body, formerOwners, updatedAt: event.time };
      }
      case 'key.rotated':
        return {
          ...state,
          ...event.body,
          formerOwners: withAnother(state.formerOwners, shownTo(event, state.owner)),
          updatedAt: event.time,
        };
      case 'key.disabled':
        return { ...state, status: 'disabled', updatedAt: event.time };
      case 'key.enabled':
        return { ...state, status: 'active', updatedAt: event.time };
      case 'key.deleted':
        return { status: 'deleted', project: state.project };
      default:
        return unknownEvent(event);
    }
  },
};
