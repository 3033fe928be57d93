import { newId } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { given as fold, stored } from '../testing/stored.js';
import { registerPerson, renamePerson, setPassword } from './decider.js';
import { emailKey } from './email.js';
import { type PersonEvent, personFold } from './person.js';

const [one, two] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`];
const registered: PersonEvent = { type: 'person.registered', body: { email: 'ann@example.com', name: 'Ann' } };
const password: PersonEvent = { type: 'person.password_changed', body: { fingerprint: one, reason: 'registered' } };
const given = (...events: PersonEvent[]) => fold(personFold, events);

describe('a person', () => {
  it('is registered under one spelling of the address, and reserves it without naming it', () => {
    const decision = registerPerson({ status: 'none' }, { email: ' Ann@Example.COM', name: 'Ann', passwordFingerprint: one });
    expect(decision.events).toEqual([registered, password]);
    expect(decision.reserve).toEqual([emailKey('ann@example.com')]);
    expect(JSON.stringify(decision.reserve)).not.toContain('ann');
  });
  it('is registered once; the repeat leaves the password alone', () => {
    const state = given(registered, password);
    expect(registerPerson(state, { email: 'ann@example.com', name: 'Ann', passwordFingerprint: two })).toEqual({ events: [] });
    expect(registerPerson(state, { email: 'bob@example.com', name: 'Bob', passwordFingerprint: two }).refusal?.code).toBe('email_taken');
  });
  it('changes the name when it differs', () => {
    expect(renamePerson(given(registered), { name: 'Anna' }).events).toEqual([{ type: 'person.renamed', body: { name: 'Anna' } }]);
    expect(renamePerson(given(registered), { name: 'Ann' })).toEqual({ events: [] });
    expect(renamePerson({ status: 'none' }, { name: 'Ann' }).refusal?.code).toBe('person_not_found');
  });
  it('changes the password only from the one the caller proved to know', () => {
    const state = given(registered, password);
    expect(setPassword(state, { fingerprint: two, reason: 'changed', expected: one }).events).toHaveLength(1);
    expect(setPassword(state, { fingerprint: two, reason: 'changed', expected: two }).refusal?.code).toBe('wrong_password');
    expect(setPassword(state, { fingerprint: two, reason: 'reset' }).events).toHaveLength(1);
    expect(setPassword(state, { fingerprint: one, reason: 'reset' })).toEqual({ events: [] });
    expect(setPassword({ status: 'none' }, { fingerprint: one, reason: 'reset' }).refusal?.code).toBe('person_not_found');
  });
  it('has a temporary password after an operator set it, until they choose one', () => {
    const reset: PersonEvent = { type: 'person.password_changed', body: { fingerprint: two, reason: 'reset' } };
    const changed: PersonEvent = { type: 'person.password_changed', body: { fingerprint: one, reason: 'changed' } };
    expect(given(registered, reset)).toMatchObject({ passwordFingerprint: two, passwordIsTemporary: true });
    expect(given(registered, reset, changed)).toMatchObject({ passwordFingerprint: one, passwordIsTemporary: false });
  });
  it('is gone once its stream is redacted', () => {
    const events = stored<PersonEvent>(newId('per'), newId('prj'), [registered, password]).map((event) => ({
      ...event,
      body: null as never,
      redacted: true,
    }));
    expect(events.reduce((s, e) => personFold.evolve(s, e), personFold.initial())).toEqual({ status: 'erased' });
  });
});
