import type { KeyCreated } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { given as fold, stored } from '../testing/stored.js';
import { changeKey, createKey, deleteKey, rotateKey } from './decider.js';
import { type ApiKey, type KeyEvent, type KeySettings, keyFold } from './key.js';

const [one, two] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`];
const project = newId('prj');
const settings: KeySettings = {
  name: 'mailer',
  description: null,
  scopes: ['reviews:create', 'reviews:read'],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
  expires_at: null,
  ip_allowlist: null,
};
const command = { settings, prefix: 'gwk_00000000', fingerprint: one };
const created: KeyEvent = { type: 'key.created', body: { ...settings, prefix: 'gwk_00000000', fingerprint: one } };
const disabled: KeyEvent = { type: 'key.disabled', body: {} };
const deleted: KeyEvent = { type: 'key.deleted', body: {} };
const given = (...events: KeyEvent[]): ApiKey => fold(keyFold, [created, ...events], newId('key'), project);

describe('an API key', () => {
  it('is created with all its settings, and once', () => {
    expect(createKey({ status: 'none' }, command).events).toEqual([created]);
    expect(createKey(given(), command)).toEqual({ events: [] });
    expect(createKey(given(), { ...command, fingerprint: two }).refusal?.code).toBe('api_key_not_found');
    expect(createKey(given(deleted), command).refusal?.code).toBe('api_key_not_found');
  });
  it('takes no allow-list it could not enforce', () => {
    const bad = { ip_allowlist: ['10.0.0.0/8', '10.0.0.0/33'] };
    const refusal = { code: 'invalid_ip_allowlist', param: 'ip_allowlist' };
    expect(createKey({ status: 'none' }, { ...command, settings: { ...settings, ...bad } }).refusal).toMatchObject(refusal);
    expect(changeKey(given(), { project, settings: bad }).refusal).toMatchObject(refusal);
  });
  it('changes what differs only', () => {
    const change = { project, settings: { name: 'mailer', scopes: ['reviews:read'] as KeySettings['scopes'] } };
    expect(changeKey(given(), change).events).toEqual([{ type: 'key.changed', body: { scopes: ['reviews:read'] } }]);
    expect(changeKey(given(), { project, settings: { scopes: [...settings.scopes] } })).toEqual({ events: [] });
  });
  it('is disabled and enabled, each once', () => {
    expect(changeKey(given(), { project, settings: {}, active: false }).events).toEqual([disabled]);
    expect(changeKey(given(disabled), { project, settings: {}, active: false })).toEqual({ events: [] });
    expect(changeKey(given(disabled), { project, settings: {}, active: true }).events).toEqual([{ type: 'key.enabled', body: {} }]);
  });
  it('remembers everybody who owned it before, once', () => {
    const [ann, bob] = [newId('per'), newId('per')];
    const owned = (owner: string | null): KeyEvent => ({ type: 'key.changed', body: { owner } });
    const rename: KeyEvent = { type: 'key.changed', body: { name: 'other' } };
    expect(given(owned(ann), rename)).toMatchObject({ owner: ann, formerOwners: [] });
    expect(given(owned(ann), owned(null))).toMatchObject({ owner: null, formerOwners: [ann] });
    expect(given(owned(ann), owned(bob), owned(ann), owned(bob), owned(null))).toMatchObject({ owner: null, formerOwners: [ann, bob] });
  });
  it('remembers who was shown it, whoever owned it, once', () => {
    const [ann, bob] = [newId('per'), newId('per')];
    const rotated: KeyEvent = { type: 'key.rotated', body: { prefix: 'gwk_11111111', fingerprint: two } };
    const owned = (owner: string | null): KeyEvent => ({ type: 'key.changed', body: { owner } });
    const made = (owner: string | null): KeyEvent => ({ type: 'key.created', body: { ...created.body, owner } as KeyCreated });
    const after = (...story: [KeyEvent, by: 'person' | 'system', id: string][]): ApiKey =>
      stored(
        newId('key'),
        project,
        story.map(([event]) => event),
      ).reduce<ApiKey>((state, event, n) => {
        const [, kind, id] = story[n] as [KeyEvent, 'person' | 'system', string];
        return keyFold.evolve(state, { ...event, meta: { actor: { kind, id } } });
      }, keyFold.initial());
    expect(after([made(null), 'person', ann])).toMatchObject({ owner: null, formerOwners: [ann] });
    expect(after([made(null), 'person', ann], [rotated, 'person', ann], [rotated, 'person', bob])).toMatchObject({
      formerOwners: [ann, bob],
    });
    expect(after([made(null), 'person', ann], [owned(bob), 'person', ann])).toMatchObject({ owner: bob, formerOwners: [ann] });
    expect(after([made(bob), 'person', ann], [rotated, 'person', ann])).toMatchObject({ owner: bob, formerOwners: [ann] });
    expect(after([made(bob), 'system', 'operator'], [rotated, 'person', ann])).toMatchObject({ owner: bob, formerOwners: [ann] });
    // The owner counts as that, until somebody else is; the operator's command shows it to nobody who could approve.
    expect(after([made(ann), 'person', ann], [rotated, 'person', ann])).toMatchObject({ owner: ann, formerOwners: [] });
    expect(after([made(ann), 'person', ann], [owned(bob), 'person', bob])).toMatchObject({ owner: bob, formerOwners: [ann] });
    expect(after([made(null), 'system', 'operator'], [rotated, 'system', 'operator'])).toMatchObject({ formerOwners: [] });
  });
  it('is rotated while it is active', () => {
    const rotate = { project, prefix: 'gwk_11111111', fingerprint: two };
    const rotated: KeyEvent = { type: 'key.rotated', body: { prefix: 'gwk_11111111', fingerprint: two } };
    expect(rotateKey(given(), rotate).events).toEqual([rotated]);
    expect(rotateKey(given(rotated), rotate)).toEqual({ events: [] });
    expect(rotateKey(given(disabled), rotate).refusal?.code).toBe('api_key_inactive');
    expect(given(rotated)).toMatchObject({ prefix: 'gwk_11111111', fingerprint: two, status: 'active' });
  });
  it('is deleted for good, and once', () => {
    expect(deleteKey(given(), { project }).events).toEqual([deleted]);
    expect(deleteKey(given(deleted), { project })).toEqual({ events: [] });
    expect(changeKey(given(deleted), { project, settings: { name: 'x' } }).refusal?.code).toBe('api_key_not_found');
    expect(rotateKey(given(deleted), { project, prefix: '', fingerprint: two }).refusal?.code).toBe('api_key_not_found');
  });
  it('does not exist for another project', () => {
    const other = newId('prj');
    expect(changeKey(given(), { project: other, settings: { name: 'x' } }).refusal?.code).toBe('api_key_not_found');
    expect(rotateKey(given(), { project: other, prefix: '', fingerprint: two }).refusal?.code).toBe('api_key_not_found');
    expect(deleteKey(given(), { project: other }).refusal?.code).toBe('api_key_not_found');
  });
});
