import type { Role } from '@countersign/contracts';
import type { Decision } from '@countersign/event-store';
import { type RefusalCode, refuse } from '../refusals.js';
import type { ActiveProject, Project, ProjectEvent } from './project.js';

/**
 * Who is in a project. Memberships live in the project's stream, so these rules are judged on one version of it:
 *
 * M1 a project that has an admin keeps one;
 * M2 whoever changes the team is an admin of it in the very state that is changed: of two admins who demote each other at once the
 *    second is judged again on the new version, where they are no admin any more;
 * M3 an admin who leaves or is demoted takes their open invitations along.
 */
type TeamDecision = Decision<ProjectEvent, RefusalCode>;

/** The person who acts, or null for the operator at the server (CLI, first start). */
export type TeamActor = string | null;

const no = (code: RefusalCode, message: string): TeamDecision => ({ events: [], refusal: refuse(code, message) });
const noProject = (): TeamDecision => no('project_not_found', 'No such project.');

const notMember = (): TeamDecision => no('member_not_found', 'This person is not in the project.');

const adminsOf = (state: ActiveProject): string[] => Object.keys(state.members).filter((id) => state.members[id]?.role === 'admin');

function actorFault(state: ActiveProject, by: TeamActor): TeamDecision | null {
  return by === null || state.members[by]?.role === 'admin' ? null : no('forbidden', 'Only an admin of the project may change its team.');
}

function invitationsOf(state: ActiveProject, person: string): ProjectEvent[] {
  return Object.entries(state.invitations)
    .filter(([, invitation]) => invitation.status === 'open' && invitation.invitedBy === person)
    .map(([invite_id]) => ({ type: 'invite.revoked', body: { invite_id } }));
}

/** Takes a person in. Already in with that role: nothing happens; with another role: the role is changed. */
export function grantMembership(state: Project, command: { person: string; role: Role }): TeamDecision {
  if (state.status !== 'active') return noProject();
  const member = state.members[command.person];
  if (!member) {
    return { events: [{ type: 'membership.granted', body: { person_id: command.person, role: command.role, invite_id: null } }] };
  }
  return changeRole(state, { by: null, person: command.person, role: command.role });
}

export function changeRole(state: Project, command: { by: TeamActor; person: string; role: Role }): TeamDecision {
  if (state.status !== 'active') return noProject();
  const { by, person, role } = command;
  const fault = actorFault(state, by);
  if (fault) return fault;
  const member = state.members[person];
  if (!member) return notMember();
  if (member.role === role) return { events: [] };
  const leaving = leavingAdminFault(state, person, by);
  if (leaving) return leaving;
  return {
    events: [
      { type: 'membership.changed', body: { person_id: person, role, previous_role: member.role } },
      ...(role === 'admin' ? [] : invitationsOf(state, person)),
    ],
  };
}

/** A person who has left already: nothing happens (K9). */
export function endMembership(state: Project, command: { by: TeamActor; person: string }): TeamDecision {
  if (state.status !== 'active') return noProject();
  const { by, person } = command;
  const fault = actorFault(state, by);
  if (fault) return fault;
  const member = state.members[person];
  if (!member) return state.former[person] ? { events: [] } : notMember();
  const leaving = leavingAdminFault(state, person, by);
  if (leaving) return leaving;
  return { events: [{ type: 'membership.ended', body: { person_id: person, role: member.role } }, ...invitationsOf(state, person)] };
}

/** Takes somebody back who left, as what they were unless another role is named. */
export function resumeMembership(state: Project, command: { by: TeamActor; person: string; role?: Role }): TeamDecision {
  if (state.status !== 'active') return noProject();
  const { by, person } = command;
  const fault = actorFault(state, by);
  if (fault) return fault;
  const present = state.members[person];
  if (present) return changeRole(state, { by, person, role: command.role ?? present.role });
  const left = state.former[person];
  if (!left) return notMember();
  return { events: [{ type: 'membership.granted', body: { person_id: person, role: command.role ?? left.role, invite_id: null } }] };
}

function leavingAdminFault(state: ActiveProject, person: string, by: TeamActor): TeamDecision | null {
  const admins = adminsOf(state);
  if (admins.length === 1 && admins[0] === person) {
    return no('last_admin', 'This is the only admin of the project. Make someone else an admin first.');
  }
  if (by === person) return no('cannot_edit_self', 'You cannot change your own role or remove yourself; another admin can.');
  return null;
}

export function invite(
  state: Project,
  command: {
    by: TeamActor;
    inviteId: string;
    role: Role;
    expiresInSeconds: number;
    /** The person who has this e-mail address already, if any. */
    person: string | null;
    /** Earlier invitations to the same address: they end, so that one link is good at a time. */
    replaces: readonly string[];
  },
): TeamDecision {
  if (state.status !== 'active') return noProject();
  const fault = actorFault(state, command.by);
  if (fault) return fault;
  if (state.invitations[command.inviteId]) return { events: [] };
  if (command.person !== null && state.members[command.person]) {
    return no('duplicate_email', 'A person with this e-mail address is already a member of the project.');
  }
  const revoked = command.replaces.filter((id) => state.invitations[id]?.status === 'open');
  return {
    events: [
      ...revoked.map((invite_id): ProjectEvent => ({ type: 'invite.revoked', body: { invite_id } })),
      {
        type: 'invite.created',
        body: {
          invite_id: command.inviteId,
          role: command.role,
          invited_by: command.by,
          expires_in_seconds: command.expiresInSeconds,
        },
      },
    ],
  };
}

/** Why an invitation cannot be accepted at this time, or null. */
export function invitationFault(state: Project, inviteId: string, now: string): ReturnType<typeof refuse> | null {
  const invitation = state.status === 'active' ? state.invitations[inviteId] : undefined;
  if (!invitation || invitation.status === 'revoked') return refuse('invite_invalid', 'No such invitation, or it was withdrawn.');
  if (invitation.status === 'accepted') return refuse('invite_used', 'This invitation was already accepted. Sign in instead.');
  if (invitation.expiresAt <= now) return refuse('invite_expired', 'This invitation has expired. Ask for a new one.');
  return null;
}

/** The same person again: nothing happens (K9). */
export function acceptInvite(state: Project, command: { inviteId: string; person: string }, now: string): TeamDecision {
  if (state.status !== 'active') return noProject();
  const invitation = state.invitations[command.inviteId];
  if (invitation?.status === 'accepted' && invitation.acceptedBy === command.person) return { events: [] };
  const refusal = invitationFault(state, command.inviteId, now);
  if (refusal || !invitation) return { events: [], refusal: refusal ?? refuse('invite_invalid', 'No such invitation.') };
  const granted: ProjectEvent = {
    type: 'membership.granted',
    body: { person_id: command.person, role: invitation.role, invite_id: command.inviteId },
  };
  return {
    events: [
      { type: 'invite.accepted', body: { invite_id: command.inviteId, person_id: command.person } },
      ...(state.members[command.person] ? [] : [granted]),
    ],
    notAfter: invitation.expiresAt,
  };
}
