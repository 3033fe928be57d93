import {
  type ApiKey,
  type HmacSecret,
  type HmacSecretInfo,
  type LoggedIn,
  type Me,
  type Member,
  type Project,
  ROLE_SCOPES,
  type Role,
  type Session,
} from '@countersign/contracts';
import { type Reply, respond } from '@countersign/http';
import type { WebhookSecrets } from '../commands/projects.js';
import type { TeamMember } from '../commands/team.js';
import { standardSecret } from '../credentials/webhook-secret.js';
import type { LiveKey } from '../key/key.js';
import type { FoundPerson, Membership } from '../lookups/people.js';
import type { ActiveProject } from '../project/project.js';
import { type ListedSession, SESSION_SECONDS } from '../sign-in/sessions.js';
import type { SignedIn } from '../sign-in/sign-in.js';
import { deviceCookie, sessionCookie } from './cookies.js';

/** What the directory's objects look like on the wire (contracts/src/http). */
export const projectView = (id: string, project: ActiveProject): Project => ({
  object: 'project',
  id,
  name: project.name,
  description: project.description,
  created_at: project.createdAt,
  updated_at: project.updatedAt,
});

export const keyView = (id: string, key: LiveKey, lastUsedAt: string | null, rawKey?: string): ApiKey => ({
  object: 'api_key',
  id,
  project_id: key.project,
  name: key.name,
  description: key.description,
  prefix: key.prefix,
  scopes: key.scopes,
  template_ids: key.template_ids,
  owner: key.owner,
  contact: key.contact,
  default_reviewer: key.default_reviewer,
  rate_limit_per_hour: key.rate_limit_per_hour,
  ip_allowlist: key.ip_allowlist,
  expires_at: key.expires_at,
  is_active: key.status === 'active',
  last_used_at: lastUsedAt,
  created_at: key.createdAt,
  updated_at: key.updatedAt,
  ...(rawKey === undefined ? {} : { raw_key: rawKey }),
});

export const memberView = (member: TeamMember): Member => ({
  object: 'reviewer',
  id: member.id,
  email: member.email,
  name: member.name,
  role: member.role,
  is_active: member.isActive,
  last_sign_in_at: member.lastSignInAt,
  created_at: member.since,
});

export const sessionView = (session: ListedSession, current: string): Session => ({
  object: 'session',
  id: session.id,
  is_current: session.id === current,
  method: session.method,
  user_agent: session.userAgent,
  ip: session.ip,
  created_at: session.createdAt,
  last_used_at: session.lastUsedAt,
  expires_at: session.expiresAt,
});

export const meView = (me: {
  person: FoundPerson;
  session: ListedSession;
  memberships: readonly Membership[];
  project: string;
  role: Role;
}): Me => ({
  object: 'reviewer',
  id: me.person.id,
  email: me.person.email,
  name: me.person.name,
  role: me.role,
  project_id: me.project,
  projects: me.memberships.map(({ project, projectName, role }) => ({ id: project, name: projectName, role })),
  scopes: [...ROLE_SCOPES[me.role]],
  must_change_password: me.session.recovery || me.person.passwordIsTemporary,
  session: { id: me.session.id, method: me.session.method, expires_at: me.session.expiresAt },
});

const prefix = (secret: string): string => secret.slice(0, 8);

export const secretInfoView = ({ active, pending }: WebhookSecrets): HmacSecretInfo => ({
  prefix: prefix(active.secret),
  has_secret: true,
  pending_prefix: pending && prefix(pending.secret),
  promote_at: pending?.promoteAt ?? null,
});

export const secretView = ({ active, pending }: WebhookSecrets): HmacSecret => ({
  hmac_secret: active.secret,
  standard_secret: standardSecret(active.secret),
  pending_secret: pending?.secret ?? null,
  promote_at: pending?.promoteAt ?? null,
});

/** A session for a client that keeps its token, or for the inbox, whose cookie it is. */
export function signedInReply(
  signedIn: SignedIn,
  options: { cookie?: boolean; publicUrl: string; status?: number; returnTo?: string },
): Reply<LoggedIn> {
  const { session, person, memberships, deviceToken } = signedIn;
  const { cookie = false, publicUrl, status = 200, returnTo } = options;
  const body: LoggedIn = {
    ...(cookie ? {} : { token: session.token }),
    reviewer: { object: 'reviewer', id: person.id, email: person.email, name: person.name, role: memberships[0].role },
    must_change_password: session.recovery || person.passwordIsTemporary,
    expires_at: session.expiresAt,
    ...(returnTo === undefined ? {} : { return_to: returnTo }),
  };
  const cookies = [
    sessionCookie(session.token, SESSION_SECONDS, publicUrl),
    ...(deviceToken === null ? [] : [deviceCookie(deviceToken, publicUrl)]),
  ];
  return respond(body, {
    status,
    headers: cookie ? { 'Set-Cookie': cookies } : {},
  });
}
