/**
 * Who did it, as facts say it. Two places, two answers: the body of an event, which can be erased, names a person with the e-mail address they
 * had then; the metadata is read by many, outlives the body, and names them by their id alone.
 */
import type { Actor, AgentActor, PersonActor } from '../identity.js';
import type { ActorRef, AgentRef, PersonRef } from './parts.js';

/** A part of the server that acts by itself. */
export interface SystemActor {
  kind: 'system';
  /** What acts, such as `clock` or `webhooks`; `system:` is put before it where it is shown. */
  id: string;
}

/** Who causes an event, as its metadata says it. */
export interface MetaActor {
  kind: 'agent' | 'person' | 'system';
  id: string;
  /** The public part of an agent's key, by which people know it. Never a person's name or e-mail address. */
  label?: string;
}

export function personRef(actor: PersonActor): PersonRef {
  return { kind: 'person', id: actor.person_id, email: actor.email };
}

export function agentRef(actor: AgentActor): AgentRef {
  return { kind: 'agent', key_id: actor.key_id, key_prefix: actor.key_prefix };
}

/** For the body of an event. */
export function actorRef(actor: AgentActor | PersonActor): ActorRef {
  return actor.kind === 'person' ? personRef(actor) : agentRef(actor);
}

/** What the clock does is caused by nobody who calls. */
const CLOCK: SystemActor = { kind: 'system', id: 'clock' };

function metaActor(actor: Actor | SystemActor | null): MetaActor {
  switch (actor?.kind) {
    case 'system':
      return { kind: 'system', id: actor.id };
    case 'agent':
      return { kind: 'agent', id: actor.key_id, label: actor.key_prefix };
    case 'person':
      return { kind: 'person', id: actor.person_id };
    default:
      return CLOCK;
  }
}

/** For the metadata of the events a request leads to. `actor` is null for what the clock does. */
export function metaOf(caller: { actor: Actor | SystemActor | null; request_id?: string }): { actor: MetaActor; request_id?: string } {
  return { actor: metaActor(caller.actor), request_id: caller.request_id };
}
