/** A project, its keys, its webhook secret and its people (HRP §1.6, §10, §13). */
import { message, nullable, ref, type Static, strict, Type } from '../schema.js';
import { RoleName, ScopeName } from './auth.js';
import { ListOf, objectType } from './list.js';
import { count, email, inviteId, keyId, moment, personId, projectId, templateId, text, timestamp } from './primitives.js';

export const Project = message(
  'Project',
  Type.Object({
    object: objectType('project'),
    id: projectId(),
    name: Type.String(),
    description: nullable(Type.String()),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
);
export type Project = Static<typeof Project>;

export const ProjectUpdate = strict(
  'ProjectUpdate',
  Type.Object({
    name: Type.Optional(text(200, 1)),
    description: Type.Optional(nullable(text(2000))),
  }),
);
export type ProjectUpdate = Static<typeof ProjectUpdate>;

const scopes = () => Type.Array(ref(ScopeName), { minItems: 1, maxItems: 32, uniqueItems: true });
const templateIds = () => nullable(Type.Array(text(64, 1), { maxItems: 500, uniqueItems: true }));
const perHour = () => nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 }));
const allowlist = () => nullable(Type.Array(text(64, 1), { maxItems: 200, description: 'Addresses or CIDR ranges, IPv4 and IPv6.' }));
const person = (what: string) => nullable(text(254, 1, what));

export const ApiKey = message(
  'ApiKey',
  Type.Object({
    object: objectType('api_key'),
    id: keyId(),
    project_id: projectId(),
    name: Type.String(),
    description: nullable(Type.String()),
    prefix: Type.String({ description: 'gwk_ and eight characters: the public part.' }),
    scopes: Type.Array(ref(ScopeName)),
    template_ids: nullable(Type.Array(templateId())),
    owner: nullable(personId()),
    contact: nullable(personId()),
    default_reviewer: nullable(Type.String()),
    rate_limit_per_hour: nullable(count()),
    ip_allowlist: nullable(Type.Array(Type.String())),
    expires_at: nullable(timestamp()),
    is_active: Type.Boolean(),
    last_used_at: nullable(timestamp()),
    created_at: timestamp(),
    updated_at: timestamp(),
    raw_key: Type.Optional(Type.String({ pattern: '^gwk_[0-9a-f]{64}$', description: 'Shown once: on creation and rotation.' })),
  }),
);
export type ApiKey = Static<typeof ApiKey>;

export const ApiKeyList = ListOf('ApiKeyList', ApiKey);
export type ApiKeyList = Static<typeof ApiKeyList>;

const keySettings = () => ({
  description: Type.Optional(nullable(text(2000))),
  template_ids: Type.Optional(templateIds()),
  owner: Type.Optional(
    person('E-mail or id of the person responsible for the key, who may not approve its requests, nor may whoever makes or rotates it.'),
  ),
  contact: Type.Optional(person('E-mail or id of the contact person for the key.')),
  default_reviewer: Type.Optional(nullable(text(254, 1))),
  rate_limit_per_hour: Type.Optional(perHour()),
  ip_allowlist: Type.Optional(allowlist()),
  expires_at: Type.Optional(nullable(moment())),
});

export const ApiKeyCreate = strict('ApiKeyCreate', Type.Object({ name: text(200, 1), scopes: scopes(), ...keySettings() }));
export type ApiKeyCreate = Static<typeof ApiKeyCreate>;

export const ApiKeyUpdate = strict(
  'ApiKeyUpdate',
  Type.Object({
    name: Type.Optional(text(200, 1)),
    scopes: Type.Optional(scopes()),
    is_active: Type.Optional(Type.Boolean()),
    ...keySettings(),
  }),
);
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>;

const hexSecret = () => Type.String({ pattern: '^[0-9a-f]{64}$' });

export const HmacSecretInfo = message(
  'HmacSecretInfo',
  Type.Object({
    prefix: nullable(Type.String({ description: 'Eight characters of the live secret.' })),
    has_secret: Type.Boolean(),
    pending_prefix: nullable(Type.String()),
    promote_at: nullable(timestamp()),
  }),
);
export type HmacSecretInfo = Static<typeof HmacSecretInfo>;

export const HmacSecret = message(
  'HmacSecret',
  Type.Object({
    hmac_secret: hexSecret(),
    standard_secret: Type.String({ pattern: '^whsec_', description: 'The same secret in Standard Webhooks format.' }),
    pending_secret: nullable(hexSecret()),
    promote_at: nullable(timestamp()),
  }),
);
export type HmacSecret = Static<typeof HmacSecret>;

export const HmacSecretRotate = strict(
  'HmacSecretRotate',
  Type.Object({ promote_at: Type.Optional(nullable(moment('Promote automatically at this time; if omitted, when promote is called.'))) }),
);
export type HmacSecretRotate = Static<typeof HmacSecretRotate>;

export const HmacSecretRotated = message(
  'HmacSecretRotated',
  Type.Object({ pending_secret: hexSecret(), promote_at: nullable(timestamp()) }),
);
export type HmacSecretRotated = Static<typeof HmacSecretRotated>;

export const Member = message(
  'Member',
  Type.Object({
    object: objectType('reviewer'),
    id: personId(),
    email: email(),
    name: Type.String(),
    role: ref(RoleName),
    is_active: Type.Boolean(),
    last_sign_in_at: nullable(timestamp()),
    created_at: timestamp(),
  }),
);
export type Member = Static<typeof Member>;

export const MemberList = ListOf('MemberList', Member);
export type MemberList = Static<typeof MemberList>;

export const MemberUpdate = strict(
  'MemberUpdate',
  Type.Object({
    role: Type.Optional(ref(RoleName)),
    is_active: Type.Optional(Type.Boolean({ description: 'false removes the person, true restores them.' })),
  }),
);
export type MemberUpdate = Static<typeof MemberUpdate>;

export const MemberInvite = strict('MemberInvite', Type.Object({ email: email(), role: Type.Optional(ref(RoleName)) }));
export type MemberInvite = Static<typeof MemberInvite>;

export const MemberInvited = message(
  'MemberInvited',
  Type.Object({
    id: inviteId(),
    email: email(),
    role: ref(RoleName),
    expires_at: timestamp(),
    invite_url: Type.String({
      format: 'uri',
      pattern: '^https?://[^#]+/invite#csi_[\\w-]{43}$',
      description: 'The page of the invitation, with its one-time token behind the #.',
    }),
  }),
);
export type MemberInvited = Static<typeof MemberInvited>;
