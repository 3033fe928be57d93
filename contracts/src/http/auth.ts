/** Signing in, sessions, invitations, what a key is (HRP §1.1, §1.7, §10; decision K1). */

import { AUTH_METHODS } from '../events/parts.js';
import { SCOPES } from '../identity.js';
import { choice, message, nullable, ref, type Static, strict, Type } from '../schema.js';
import { ListOf, objectType } from './list.js';
import { count, email, keyId, personId, projectId, sessionId, templateId, text, timestamp } from './primitives.js';

/** Name of the cookie that holds a session token for the inbox. */
export const SESSION_COOKIE = 'countersign_session';

export const RoleName = message('RoleName', choice(['admin', 'reviewer']));
export type RoleName = Static<typeof RoleName>;
export const ScopeName = message('ScopeName', choice(SCOPES));
export type ScopeName = Static<typeof ScopeName>;

/** Passwords are judged by the service (`too_short`, `too_long`); the bound here only keeps the hash affordable. */
const password = () => text(1024, 1);

export const Login = strict(
  'Login',
  Type.Object({
    email: text(254, 1),
    password: password(),
    return_to: Type.Optional(text(2048, 1, 'A path on this server.')),
    cookie: Type.Optional(Type.Boolean({ default: false, description: 'Set the session as a cookie (the inbox) and return no token.' })),
  }),
);
export type Login = Static<typeof Login>;

export const SignInLink = strict(
  'SignInLink',
  Type.Object({ token: text(512, 1), cookie: Type.Optional(Type.Boolean({ default: false })) }),
);
export type SignInLink = Static<typeof SignInLink>;

/** A person as others in the project see them; HRP calls it a reviewer. */
export const Reviewer = message(
  'Reviewer',
  Type.Object({ object: objectType('reviewer'), id: personId(), email: email(), name: Type.String(), role: ref(RoleName) }),
);
export type Reviewer = Static<typeof Reviewer>;

export const LoggedIn = message(
  'LoggedIn',
  Type.Object({
    token: Type.Optional(Type.String({ description: 'Bearer token; absent when the session is a cookie.' })),
    reviewer: ref(Reviewer),
    must_change_password: Type.Boolean(),
    expires_at: timestamp(),
    return_to: Type.Optional(Type.String()),
  }),
);
export type LoggedIn = Static<typeof LoggedIn>;

export const KeyInfo = message(
  'KeyInfo',
  Type.Object({
    object: objectType('key_info'),
    id: keyId(),
    name: Type.String(),
    prefix: Type.String(),
    scopes: Type.Array(ref(ScopeName)),
    project_id: projectId(),
    template_ids: nullable(Type.Array(templateId())),
    expires_at: nullable(timestamp()),
    rate_limit_per_hour: nullable(count()),
  }),
);
export type KeyInfo = Static<typeof KeyInfo>;

export const Me = message(
  'Me',
  Type.Object({
    object: objectType('reviewer'),
    id: personId(),
    email: email(),
    name: Type.String(),
    role: ref(RoleName),
    project_id: projectId(),
    projects: Type.Array(Type.Object({ id: projectId(), name: Type.String(), role: ref(RoleName) })),
    scopes: Type.Array(ref(ScopeName)),
    must_change_password: Type.Boolean(),
    session: Type.Object({ id: sessionId(), method: choice(AUTH_METHODS), expires_at: timestamp() }),
  }),
);
export type Me = Static<typeof Me>;

export const ProfileUpdate = strict('ProfileUpdate', Type.Object({ name: text(200, 1) }));
export type ProfileUpdate = Static<typeof ProfileUpdate>;

export const Session = message(
  'Session',
  Type.Object({
    object: objectType('session'),
    id: sessionId(),
    is_current: Type.Boolean(),
    method: choice(AUTH_METHODS),
    user_agent: nullable(Type.String()),
    ip: nullable(Type.String()),
    created_at: timestamp(),
    last_used_at: timestamp(),
    expires_at: timestamp(),
  }),
);
export type Session = Static<typeof Session>;

export const SessionList = ListOf('SessionList', Session);
export type SessionList = Static<typeof SessionList>;

/** Ends every session but the one that asks, unless `include_current`. */
export const RevokeSessions = strict('RevokeSessions', Type.Object({ include_current: Type.Optional(Type.Boolean({ default: false })) }));
export type RevokeSessions = Static<typeof RevokeSessions>;

export const SessionsRevoked = message('SessionsRevoked', Type.Object({ revoked: count() }));
export type SessionsRevoked = Static<typeof SessionsRevoked>;

/** Ends all sessions of the person and opens a new one. `current_password` may be absent only just after a recovery link. */
export const ChangePassword = strict(
  'ChangePassword',
  Type.Object({
    current_password: Type.Optional(password()),
    new_password: password(),
    cookie: Type.Optional(Type.Boolean({ default: false })),
  }),
);
export type ChangePassword = Static<typeof ChangePassword>;

export const InviteInfo = message(
  'InviteInfo',
  Type.Object({
    email: email(),
    role: ref(RoleName),
    project: Type.Object({ id: projectId(), name: Type.String() }),
    expires_at: timestamp(),
  }),
);
export type InviteInfo = Static<typeof InviteInfo>;

export const InviteAccept = strict(
  'InviteAccept',
  Type.Object({ name: text(200, 1), password: password(), cookie: Type.Optional(Type.Boolean({ default: false })) }),
);
export type InviteAccept = Static<typeof InviteAccept>;
