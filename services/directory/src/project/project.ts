import type {
  InviteAccepted,
  InviteCreated,
  InviteRevoked,
  MembershipChanged,
  MembershipEnded,
  MembershipGranted,
  ProjectChanged,
  ProjectCreated,
  Role,
  SecretCreated,
  SecretPromoted,
  SecretRevealed,
  SecretRotated,
} from '@countersign/contracts';
import type { DomainEvent, Fold, StoredEvent } from '@countersign/event-store';
import { isErasure, unknownEvent } from '../stream.js';

/** A project: its name, who is in it and as what, who is invited, and which of its signing secrets is the current one. */
export type ProjectEvent =
  | DomainEvent<'project.created', ProjectCreated>
  | DomainEvent<'project.changed', ProjectChanged>
  | DomainEvent<'membership.granted', MembershipGranted>
  | DomainEvent<'membership.changed', MembershipChanged>
  | DomainEvent<'membership.ended', MembershipEnded>
  | DomainEvent<'invite.created', InviteCreated>
  | DomainEvent<'invite.accepted', InviteAccepted>
  | DomainEvent<'invite.revoked', InviteRevoked>
  | DomainEvent<'secret.created', SecretCreated>
  | DomainEvent<'secret.rotated', SecretRotated>
  | DomainEvent<'secret.promoted', SecretPromoted>
  | DomainEvent<'secret.revealed', SecretRevealed>;

export interface Member {
  role: Role;
  since: string;
}

export interface Invitation {
  role: Role;
  invitedBy: string | null;
  createdAt: string;
  expiresAt: string;
  status: 'open' | 'accepted' | 'revoked';
  acceptedBy: string | null;
}

/** Fingerprints of the signing secrets. */
export interface ProjectSecrets {
  active: string;
  pending: { fingerprint: string; promoteAt: string | null } | null;
}

export interface ActiveProject {
  status: 'active';
  name: string;
  slug: string;
  description: string | null;
  createdAt: string;
  /** When the name or the description last changed. */
  updatedAt: string;
  members: Readonly<Record<string, Member>>;
  /** Who was in the project, and as what when they left: they can be taken back. */
  former: Readonly<Record<string, Member>>;
  invitations: Readonly<Record<string, Invitation>>;
  secrets: ProjectSecrets;
  /** The secret that was promoted last: a promotion asked for again finds it in place. */
  promoted: string | null;
}

export type Project = { status: 'none' } | { status: 'erased' } | ActiveProject;

/**
 * The secrets as they stand at a time: a pending one whose moment has come is the active one, and the old one has ended (decision 11).
 * The log need not say so first; nobody has to be awake at that moment.
 */
export function secretsAt(secrets: ProjectSecrets, now: string): ProjectSecrets {
  const { pending } = secrets;
  return pending?.promoteAt && pending.promoteAt <= now ? { active: pending.fingerprint, pending: null } : secrets;
}

const later = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString();

function evolveActive(state: ActiveProject, event: StoredEvent<ProjectEvent>): ActiveProject {
  switch (event.type) {
    case 'project.created':
      return state;
    case 'project.changed':
      return { ...state, ...event.body, updatedAt: event.time };
    case 'membership.granted': {
      const { person_id, role } = event.body;
      const { [person_id]: _, ...former } = state.former;
      return { ...state, members: { ...state.members, [person_id]: { role, since: event.time } }, former };
    }
    case 'membership.changed': {
      const { person_id, role } = event.body;
      const since = state.members[person_id]?.since ?? event.time;
      return { ...state, members: { ...state.members, [person_id]: { role, since } } };
    }
    case 'membership.ended': {
      const { person_id, role } = event.body;
      const { [person_id]: left, ...members } = state.members;
      return { ...state, members, former: { ...state.former, [person_id]: left ?? { role, since: event.time } } };
    }
    case 'invite.created': {
      const { invite_id, role, invited_by, expires_in_seconds } = event.body;
      const expiresAt = later(event.time, expires_in_seconds);
      return withInvitation(state, invite_id, {
        role,
        invitedBy: invited_by,
        createdAt: event.time,
        expiresAt,
        status: 'open',
        acceptedBy: null,
      });
    }
    case 'invite.accepted':
      return withInvitation(state, event.body.invite_id, { status: 'accepted', acceptedBy: event.body.person_id });
    case 'invite.revoked':
      return withInvitation(state, event.body.invite_id, { status: 'revoked' });
    case 'secret.created':
      return { ...state, secrets: { active: event.body.fingerprint, pending: null } };
    case 'secret.rotated': {
      const pending = { fingerprint: event.body.fingerprint, promoteAt: event.body.promote_at };
      return { ...state, secrets: { active: state.secrets.active, pending } };
    }
    case 'secret.promoted':
      return { ...state, secrets: { active: event.body.fingerprint, pending: null }, promoted: event.body.fingerprint };
    case 'secret.revealed':
      return state;
    default:
      return unknownEvent(event);
  }
}

function withInvitation(state: ActiveProject, id: string, change: Partial<Invitation>): ActiveProject {
  const invitation = { ...state.invitations[id], ...change } as Invitation;
  return { ...state, invitations: { ...state.invitations, [id]: invitation } };
}

export const projectFold: Fold<Project, ProjectEvent> = {
  initial: () => ({ status: 'none' }),
  evolve(state, event) {
    if (isErasure(event) || state.status === 'erased') return { status: 'erased' };
    if (state.status === 'active') return evolveActive(state, event);
    if (event.type !== 'project.created') throw new Error(`Project ${event.stream} begins with ${event.type}: its stream is damaged.`);
    const { name, slug, description } = event.body;
    return {
      status: 'active',
      name,
      slug,
      description,
      createdAt: event.time,
      updatedAt: event.time,
      members: {},
      former: {},
      invitations: {},
      secrets: { active: '', pending: null },
      promoted: null,
    };
  },
};
