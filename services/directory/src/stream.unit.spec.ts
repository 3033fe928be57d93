import { EVENTS } from '@countersign/contracts';
import type { DomainEvent, Fold, StoredEvent } from '@countersign/event-store';
import { newId, UnknownEventError } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { type KeyEvent, keyFold } from './key/key.js';
import { type PersonEvent, personFold } from './person/person.js';
import { type ProjectEvent, projectFold } from './project/project.js';
import { stored } from './testing/stored.js';

const digest = `sha256:${'1'.repeat(64)}`;
const key: KeyEvent['body'] = {
  name: 'k',
  description: null,
  scopes: ['reviews:read'],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
  expires_at: null,
  ip_allowlist: null,
  prefix: 'gwk_00000000',
  fingerprint: digest,
};

describe.each<[string, string, Fold<{ status: string }, DomainEvent>, DomainEvent]>([
  [
    'project',
    'prj',
    projectFold as never,
    { type: 'project.created', body: { name: 'P', slug: 'p', description: null } } satisfies ProjectEvent,
  ],
  ['person', 'per', personFold as never, { type: 'person.registered', body: { email: 'a@example.com', name: 'A' } } satisfies PersonEvent],
  ['key', 'key', keyFold as never, { type: 'key.created', body: key } as DomainEvent],
])('the stream of a %s', (_, prefix, fold, first) => {
  const [id, project] = [newId(prefix), newId('prj')];
  const after = (...events: Partial<StoredEvent>[]) =>
    stored(id, project, [first, ...(events as DomainEvent[])])
      .map((event, index) => ({ ...event, ...events[index - 1] }) as StoredEvent)
      .reduce((state, event) => fold.evolve(state, event), fold.initial());

  it('is erased by what the store appends when it redacts', () => {
    const erased = after({ type: 'stream.redacted', body: { reason: 'asked' } as never });
    expect(['erased', 'deleted']).toContain(erased.status);
  });

  it('stops at a type of a newer release, and says to come back', () => {
    const act = () => after({ type: `${first.type.split('.')[0]}.teleported`, body: {} as never });
    expect(act).toThrow(UnknownEventError);
  });

  it('that does not begin with its beginning is damaged', () => {
    const [event] = stored(id, project, [{ type: `${first.type.split('.')[0]}.teleported`, body: {} }]);
    expect(() => fold.evolve(fold.initial(), event as StoredEvent)).toThrow(/damaged/);
  });
});

describe('the contracts', () => {
  it('hold every type these streams know, and no other of theirs', () => {
    const known = [...EVENTS.keys()].filter((type) => /^(project|membership|invite|secret|person|key)\./.test(type)).sort();
    expect(known).toEqual(
      [
        'invite.accepted',
        'invite.created',
        'invite.revoked',
        'key.changed',
        'key.created',
        'key.deleted',
        'key.disabled',
        'key.enabled',
        'key.rotated',
        'membership.changed',
        'membership.ended',
        'membership.granted',
        'person.password_changed',
        'person.registered',
        'person.renamed',
        'project.changed',
        'project.created',
        'secret.created',
        'secret.promoted',
        'secret.revealed',
        'secret.rotated',
      ].sort(),
    );
  });
});
