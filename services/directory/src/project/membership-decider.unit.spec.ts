import { newId } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given as fold, START, stored } from '../testing/stored.js';
import {
  acceptInvite,
  changeRole,
  endMembership,
  grantMembership,
  invitationFault,
  invite,
  resumeMembership,
} from './membership-decider.js';
import { type Project, type ProjectEvent, projectFold } from './project.js';

const [ann, bob, cyd] = [newId('per'), newId('per'), newId('per')];
const inviteId = newId('inv');
const created: ProjectEvent[] = [
  { type: 'project.created', body: { name: 'Mail', slug: 'mail', description: null } },
  { type: 'secret.created', body: { fingerprint: `sha256:${'0'.repeat(64)}` } },
];
const granted = (person_id: string, role: 'admin' | 'reviewer'): ProjectEvent => ({
  type: 'membership.granted',
  body: { person_id, role, invite_id: null },
});
const invited = (invited_by: string | null = ann): ProjectEvent => ({
  type: 'invite.created',
  body: { invite_id: inviteId, role: 'reviewer', invited_by, expires_in_seconds: 60 },
});
const given = (...events: ProjectEvent[]): Project => fold(projectFold, [...created, ...events]);
const after = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString();

describe('granting', () => {
  it('takes a person in, and repeated does nothing', () => {
    expect(grantMembership(given(), { person: ann, role: 'admin' }).events).toEqual([granted(ann, 'admin')]);
    expect(grantMembership(given(granted(ann, 'admin')), { person: ann, role: 'admin' })).toEqual({ events: [] });
  });
  it('needs a project', () => {
    expect(grantMembership({ status: 'none' }, { person: ann, role: 'admin' }).refusal?.code).toBe('project_not_found');
  });
});

describe('changing a role', () => {
  const two = given(granted(ann, 'admin'), granted(bob, 'admin'));
  it('is written with the role before', () => {
    expect(changeRole(two, { by: ann, person: bob, role: 'reviewer' }).events).toEqual([
      { type: 'membership.changed', body: { person_id: bob, role: 'reviewer', previous_role: 'admin' } },
    ]);
  });
  it('refuses whoever is no admin in the state that is changed (M2)', () => {
    const demoted = given(granted(ann, 'admin'), granted(bob, 'admin'), {
      type: 'membership.changed',
      body: { person_id: bob, role: 'reviewer', previous_role: 'admin' },
    });
    expect(changeRole(demoted, { by: bob, person: ann, role: 'reviewer' }).refusal?.code).toBe('forbidden');
    expect(changeRole(demoted, { by: cyd, person: ann, role: 'reviewer' }).refusal?.code).toBe('forbidden');
  });
  it('keeps one admin (M1), also against an operator', () => {
    const one = given(granted(ann, 'admin'), granted(bob, 'reviewer'));
    expect(changeRole(one, { by: ann, person: ann, role: 'reviewer' }).refusal?.code).toBe('last_admin');
    expect(changeRole(one, { by: null, person: ann, role: 'reviewer' }).refusal?.code).toBe('last_admin');
    expect(endMembership(one, { by: null, person: ann }).refusal?.code).toBe('last_admin');
  });
  it('refuses one’s own', () => {
    expect(changeRole(two, { by: ann, person: ann, role: 'reviewer' }).refusal?.code).toBe('cannot_edit_self');
    expect(endMembership(two, { by: ann, person: ann }).refusal?.code).toBe('cannot_edit_self');
  });
  it('does nothing when it is so already, and knows no strangers', () => {
    expect(changeRole(two, { by: ann, person: bob, role: 'admin' })).toEqual({ events: [] });
    expect(changeRole(two, { by: ann, person: cyd, role: 'admin' }).refusal?.code).toBe('member_not_found');
  });
  it('of a person who leaves the admins ends their open invitations (M3)', () => {
    const state = given(granted(ann, 'admin'), granted(bob, 'admin'), invited(bob));
    const revoked = { type: 'invite.revoked', body: { invite_id: inviteId } };
    expect(changeRole(state, { by: ann, person: bob, role: 'reviewer' }).events).toContainEqual(revoked);
    expect(endMembership(state, { by: ann, person: bob }).events).toContainEqual(revoked);
  });
});

describe('leaving and coming back', () => {
  const left = given(granted(ann, 'admin'), granted(bob, 'reviewer'), {
    type: 'membership.ended',
    body: { person_id: bob, role: 'reviewer' },
  });
  it('repeated does nothing; a stranger is refused', () => {
    expect(endMembership(left, { by: ann, person: bob })).toEqual({ events: [] });
    expect(endMembership(left, { by: ann, person: cyd }).refusal?.code).toBe('member_not_found');
  });
  it('takes somebody back as what they were, or as something else', () => {
    expect(resumeMembership(left, { by: ann, person: bob }).events).toEqual([granted(bob, 'reviewer')]);
    expect(resumeMembership(left, { by: ann, person: bob, role: 'admin' }).events).toEqual([granted(bob, 'admin')]);
    expect(resumeMembership(left, { by: ann, person: ann })).toEqual({ events: [] });
    expect(resumeMembership(left, { by: ann, person: cyd }).refusal?.code).toBe('member_not_found');
    expect(resumeMembership(left, { by: bob, person: bob }).refusal?.code).toBe('forbidden');
  });
});

describe('invitations', () => {
  const command = { by: ann, inviteId, role: 'reviewer', expiresInSeconds: 60, person: null, replaces: [] } as const;
  it('are made by an admin, and end the ones before to the same address', () => {
    const earlier = newId('inv');
    const state = given(granted(ann, 'admin'), {
      type: 'invite.created',
      body: { ...(invited().body as object), invite_id: earlier } as never,
    });
    expect(invite(state, { ...command, replaces: [earlier, newId('inv')] }).events).toEqual([
      { type: 'invite.revoked', body: { invite_id: earlier } },
      invited(),
    ]);
    expect(invite(given(granted(ann, 'reviewer')), command).refusal?.code).toBe('forbidden');
  });
  it('are refused for somebody who is in already', () => {
    expect(invite(given(granted(ann, 'admin'), granted(bob, 'reviewer')), { ...command, person: bob }).refusal?.code).toBe(
      'duplicate_email',
    );
    expect(invite(given(granted(ann, 'admin')), { ...command, person: bob }).refusal).toBeUndefined();
  });
  const open = given(granted(ann, 'admin'), invited());
  it('are accepted once, by one person', () => {
    const decision = acceptInvite(open, { inviteId, person: bob }, after(10));
    expect(decision.events.map((event) => event.type)).toEqual(['invite.accepted', 'membership.granted']);
    expect(decision.notAfter).toBe(after(63));
    const accepted = given(granted(ann, 'admin'), invited(), ...decision.events);
    expect(acceptInvite(accepted, { inviteId, person: bob }, after(11))).toEqual({ events: [] });
    expect(acceptInvite(accepted, { inviteId, person: cyd }, after(11)).refusal?.code).toBe('invite_used');
    expect(invitationFault(accepted, inviteId, after(11))?.code).toBe('invite_used');
  });
  it('end at their time and when they are withdrawn', () => {
    expect(acceptInvite(open, { inviteId, person: bob }, after(62)).refusal).toBeUndefined();
    expect(acceptInvite(open, { inviteId, person: bob }, after(63)).refusal?.code).toBe('invite_expired');
    const revoked = given(granted(ann, 'admin'), invited(), { type: 'invite.revoked', body: { invite_id: inviteId } });
    expect(acceptInvite(revoked, { inviteId, person: bob }, after(10)).refusal?.code).toBe('invite_invalid');
    expect(acceptInvite(open, { inviteId: newId('inv'), person: bob }, after(10)).refusal?.code).toBe('invite_invalid');
  });
});

describe('whatever is done to a team', () => {
  const people = [ann, bob, cyd];
  const command = fc.record({
    by: fc.constantFrom(null, ...people),
    person: fc.constantFrom(...people),
    what: fc.constantFrom('admin', 'reviewer', 'end', 'resume', 'grant'),
  });
  it('keeps an admin once it has one, and repeating a command changes nothing', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        const log: ProjectEvent[] = [...created, granted(ann, 'admin')];
        const project = newId('prj');
        for (const { by, person, what } of commands) {
          const decide = (state: Project) => {
            if (what === 'end') return endMembership(state, { by, person });
            if (what === 'resume') return resumeMembership(state, { by, person });
            if (what === 'grant') return grantMembership(state, { person, role: 'reviewer' });
            return changeRole(state, { by, person, role: what as 'admin' | 'reviewer' });
          };
          const state = () => stored(project, project, log).reduce((s, e) => projectFold.evolve(s, e), projectFold.initial());
          const first = decide(state());
          log.push(...first.events);
          const now = state();
          const members = now.status === 'active' ? Object.values(now.members) : [];
          expect(members.some((member) => member.role === 'admin')).toBe(true);
          if (!first.refusal) expect(decide(now).events).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
