import { describe, expect, it } from '@jest/globals';
import { given as fold, START } from '../testing/stored.js';
import { changeProject, createProject, promoteSecret, revealSecret, rotateSecret } from './decider.js';
import { type Project, type ProjectEvent, projectFold, secretsAt } from './project.js';

const print = (digit: string) => `sha256:${digit.repeat(64)}`;
const [one, two, three] = [print('1'), print('2'), print('3')];
const created: ProjectEvent[] = [
  { type: 'project.created', body: { name: 'Mail', slug: 'mail', description: null } },
  { type: 'secret.created', body: { fingerprint: one } },
];
const given = (...events: ProjectEvent[]): Project => fold(projectFold, [...created, ...events]);
const rotated = (promote_at: string | null = null): ProjectEvent => ({ type: 'secret.rotated', body: { fingerprint: two, promote_at } });
const after = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();
const command = { name: 'Mail', slug: 'mail', description: null, secretFingerprint: one };

describe('a project', () => {
  it('is created with its secret, reserves its slug, and is not created twice', () => {
    const decision = createProject({ status: 'none' }, command);
    expect(decision).toEqual({ events: created, reserve: ['project-slug:mail'] });
    expect(createProject(given(), command)).toEqual({ events: [] });
    expect(createProject(given(), { ...command, slug: 'other' }).refusal?.code).toBe('slug_already_exists');
  });
  it('changes what differs only', () => {
    expect(changeProject(given(), { name: 'Post', description: null }).events).toEqual([
      { type: 'project.changed', body: { name: 'Post' } },
    ]);
    expect(changeProject(given(), { name: 'Mail' })).toEqual({ events: [] });
    expect(changeProject({ status: 'none' }, { name: 'Mail' }).refusal?.code).toBe('project_not_found');
  });
});

describe('the signing secret', () => {
  it('gets a second one beside it, which is not replaced before it is promoted', () => {
    expect(rotateSecret(given(), { fingerprint: two, promoteAt: null }, after(10)).events).toEqual([rotated()]);
    expect(rotateSecret(given(rotated()), { fingerprint: three, promoteAt: null }, after(10)).refusal?.code).toBe('rotation_pending');
    expect(rotateSecret(given(rotated()), { fingerprint: two, promoteAt: null }, after(10))).toEqual({ events: [] });
  });
  it('takes no time of promotion that has passed or is too far', () => {
    const at = (promoteAt: string) => rotateSecret(given(), { fingerprint: two, promoteAt }, after(10)).refusal?.param;
    expect(at(after(10))).toBe('body.promote_at');
    expect(at(after(11))).toBeUndefined();
    expect(at(after(10 + 90 * 86_400))).toBeUndefined();
    expect(at(after(11 + 90 * 86_400))).toBe('body.promote_at');
  });
  it('is promoted by hand, once', () => {
    const promoted: ProjectEvent = { type: 'secret.promoted', body: { fingerprint: two } };
    expect(promoteSecret(given(rotated()), after(10)).events).toEqual([promoted]);
    expect(promoteSecret(given(rotated(), promoted), after(11))).toEqual({ events: [] });
    expect(promoteSecret(given(), after(10)).refusal?.code).toBe('no_pending_secret');
  });
  it('is promoted by its time without anybody doing anything', () => {
    const state = given(rotated(after(100)));
    const secrets = state.status === 'active' ? state.secrets : undefined;
    expect(secrets && secretsAt(secrets, after(99))).toEqual({ active: one, pending: { fingerprint: two, promoteAt: after(100) } });
    expect(secrets && secretsAt(secrets, after(100))).toEqual({ active: two, pending: null });
  });
  it('writes an overdue promotion down before the next rotation', () => {
    expect(rotateSecret(given(rotated(after(100))), { fingerprint: three, promoteAt: null }, after(101)).events).toEqual([
      { type: 'secret.promoted', body: { fingerprint: two } },
      { type: 'secret.rotated', body: { fingerprint: three, promote_at: null } },
    ]);
  });
  it('says which ones were revealed', () => {
    const body = (state: Project, now: string) => revealSecret(state, now).events[0]?.body;
    expect(body(given(), after(10))).toEqual({ fingerprints: [one] });
    expect(body(given(rotated(after(100))), after(10))).toEqual({ fingerprints: [one, two] });
    expect(body(given(rotated(after(100))), after(100))).toEqual({ fingerprints: [two] });
  });
});
