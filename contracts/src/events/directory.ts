/**
 * What the directory records: projects and who is in them, people, API keys (decisions K1, K2).
 *
 * V1. No secret, password or token is in an event: `fingerprint` names the row of a table that holds what is kept of it.
 * V2. An e-mail address is in `person.registered` alone, so that one stream has to be redacted to forget a person (K4).
 * V3. Memberships and invitations are facts of the project, in its stream: its last admin is judged on one version of one stream.
 */

import { digest, email, inviteId, moment, personId, slug, templateId, text } from '../http/primitives.js';
import { SCOPES } from '../identity.js';
import { choice, message, nullable, type Static, Type } from '../schema.js';

const role = () => choice(['admin', 'reviewer']);
const fingerprint = () => digest('SHA-256 over the kept form of the credential, under a domain of its own.');
const name = () => text(200, 1);
const description = () => nullable(text(2_000));
const nothing = (id: string) => message(id, Type.Object({}));

export const ProjectCreated = message('project.created.v1', Type.Object({ name: name(), slug: slug(), description: description() }));
export type ProjectCreated = Static<typeof ProjectCreated>;

export const ProjectChanged = message(
  'project.changed.v1',
  Type.Object({ name: Type.Optional(name()), description: Type.Optional(description()) }, { minProperties: 1 }),
);
export type ProjectChanged = Static<typeof ProjectChanged>;

export const SecretCreated = message('secret.created.v1', Type.Object({ fingerprint: fingerprint() }));
export type SecretCreated = Static<typeof SecretCreated>;

export const SecretRotated = message(
  'secret.rotated.v1',
  Type.Object({
    fingerprint: fingerprint(),
    promote_at: nullable(moment('When the new secret is promoted automatically; null = manually.')),
  }),
);
export type SecretRotated = Static<typeof SecretRotated>;

export const SecretPromoted = message('secret.promoted.v1', Type.Object({ fingerprint: fingerprint() }));
export type SecretPromoted = Static<typeof SecretPromoted>;

export const SecretRevealed = message(
  'secret.revealed.v1',
  Type.Object({ fingerprints: Type.Array(fingerprint(), { minItems: 1, maxItems: 2 }) }),
);
export type SecretRevealed = Static<typeof SecretRevealed>;

export const MembershipGranted = message(
  'membership.granted.v1',
  Type.Object({ person_id: personId(), role: role(), invite_id: nullable(inviteId()) }),
);
export type MembershipGranted = Static<typeof MembershipGranted>;

export const MembershipChanged = message(
  'membership.changed.v1',
  Type.Object({ person_id: personId(), role: role(), previous_role: role() }),
);
export type MembershipChanged = Static<typeof MembershipChanged>;

export const MembershipEnded = message('membership.ended.v1', Type.Object({ person_id: personId(), role: role() }));
export type MembershipEnded = Static<typeof MembershipEnded>;

export const InviteCreated = message(
  'invite.created.v1',
  Type.Object({
    invite_id: inviteId(),
    role: role(),
    invited_by: nullable(personId()),
    expires_in_seconds: Type.Integer({ minimum: 1 }),
  }),
);
export type InviteCreated = Static<typeof InviteCreated>;

export const InviteAccepted = message('invite.accepted.v1', Type.Object({ invite_id: inviteId(), person_id: personId() }));
export type InviteAccepted = Static<typeof InviteAccepted>;

export const InviteRevoked = message('invite.revoked.v1', Type.Object({ invite_id: inviteId() }));
export type InviteRevoked = Static<typeof InviteRevoked>;

export const PersonRegistered = message('person.registered.v1', Type.Object({ email: email(), name: name() }));
export type PersonRegistered = Static<typeof PersonRegistered>;

export const PersonRenamed = message('person.renamed.v1', Type.Object({ name: name() }));
export type PersonRenamed = Static<typeof PersonRenamed>;

export const PersonPasswordChanged = message(
  'person.password_changed.v1',
  Type.Object({ fingerprint: fingerprint(), reason: choice(['registered', 'changed', 'reset']) }),
);
export type PersonPasswordChanged = Static<typeof PersonPasswordChanged>;

/** What an operator sets on a key. Absolute times are the operator's own words, not a reading of a clock (K8). */
const keySettings = () => ({
  name: name(),
  description: description(),
  scopes: Type.Array(choice(SCOPES), { minItems: 1, uniqueItems: true }),
  template_ids: nullable(Type.Array(templateId(), { uniqueItems: true, maxItems: 500 })),
  owner: nullable(personId()),
  contact: nullable(personId()),
  default_reviewer: nullable(personId()),
  rate_limit_per_hour: nullable(Type.Integer({ minimum: 1 })),
  expires_at: nullable(moment()),
  ip_allowlist: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 200 })),
});
const keyPrefix = () => Type.String({ pattern: '^gwk_[0-9a-f]{8}$' });

export const KeyCreated = message('key.created.v1', Type.Object({ ...keySettings(), prefix: keyPrefix(), fingerprint: fingerprint() }));
export type KeyCreated = Static<typeof KeyCreated>;

export const KeyChanged = message('key.changed.v1', Type.Partial(Type.Object(keySettings()), { minProperties: 1 }));
export type KeyChanged = Static<typeof KeyChanged>;

export const KeyRotated = message('key.rotated.v1', Type.Object({ prefix: keyPrefix(), fingerprint: fingerprint() }));
export type KeyRotated = Static<typeof KeyRotated>;

export const KeyDisabled = nothing('key.disabled.v1');
export const KeyEnabled = nothing('key.enabled.v1');
export const KeyDeleted = nothing('key.deleted.v1');
