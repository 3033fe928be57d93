import { describe, expect, it } from '@jest/globals';
import type { AgentActor, PersonActor } from '../identity.js';
import { actorRef, metaOf } from './actor-ref.js';

const person = { kind: 'person', person_id: 'per_1', email: 'ann@example.org', name: 'Ann', session_id: 'ses_1' } as PersonActor;
const agent = { kind: 'agent', key_id: 'key_1', key_prefix: 'gwk_12345678', name: 'Mailer' } as AgentActor;

describe('who did it', () => {
  it('is in the body of an event with the address they had', () => {
    expect(actorRef(person)).toEqual({ kind: 'person', id: 'per_1', email: 'ann@example.org' });
    expect(actorRef(agent)).toEqual({ kind: 'agent', key_id: 'key_1', key_prefix: 'gwk_12345678' });
  });

  it('is in the metadata without an address or a name', () => {
    expect(metaOf({ actor: person, request_id: 'r' })).toEqual({ actor: { kind: 'person', id: 'per_1' }, request_id: 'r' });
    expect(metaOf({ actor: agent }).actor).toEqual({ kind: 'agent', id: 'key_1', label: 'gwk_12345678' });
    expect(metaOf({ actor: { kind: 'system', id: 'webhooks' } }).actor).toEqual({ kind: 'system', id: 'webhooks' });
    expect(metaOf({ actor: null }).actor).toEqual({ kind: 'system', id: 'clock' });
  });
});
