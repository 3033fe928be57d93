/**
 * What the gateway asks other services behind the public surface (docs/architecture.md). These routes are signed like every other, with an
 * anonymous actor, and no gateway route leads to them.
 *
 * N1. A service answers 200 with the reply, also when the answer is no: `refusal` is data here, the gateway turns it into the caller's error.
 * N2. `Countersign-Client-Ip` goes with every forwarded request: the caller's address as the gateway sees it. `User-Agent` is the caller's.
 * N3. To the operations with the tag `auth` the caller's `DEVICE_COOKIE` goes along, in `Cookie`, and from them `Set-Cookie` comes back
 *     unchanged: the directory sets and ends the inbox's session cookie, and knows a device again.
 */
import type { ErrorCode } from './errors.js';
import type { AgentActor, PersonActor, Role } from './identity.js';
import { choice, type Static, Type } from './schema.js';

/** The caller's address, as the gateway sees it (N2). */
export const CLIENT_IP_HEADER = 'countersign-client-ip';

/** What a sign-in leaves on a device, so that strangers' failed sign-ins do not lock that device out. Opens nothing by itself. */
export const DEVICE_COOKIE = 'countersign_device';

/** `POST /internal/authenticate` of the directory: who holds this credential? */
export const AuthenticateRequest = Type.Object({
  /** How it came. A key is taken as a bearer only. */
  via: choice(['bearer', 'cookie']),
  /** The text after `Bearer `, or the cookie's value. `gwk_…` is an API key, anything else a session token. */
  credential: Type.String({ minLength: 1, maxLength: 4096 }),
  /** The caller's address, for the key's allow-list. */
  ip: Type.String({ maxLength: 64 }),
  /** `X-Project-Id`: the project a person wants to work in. */
  project_id: Type.Optional(Type.String({ maxLength: 64 })),
});
export type AuthenticateRequest = Static<typeof AuthenticateRequest>;

/**
 * Refusals: `invalid_api_key`, `key_expired`, `ip_not_allowed`, `invalid_token`, and `forbidden` for a project the person has no role in
 * (whether or not it exists).
 */
export type AuthenticateReply = { actor: AgentActor | PersonActor; refusal?: undefined } | { actor?: undefined; refusal: InternalRefusal };

export interface InternalRefusal {
  code: ErrorCode;
  message: string;
}

/**
 * `POST /internal/actors` of the directory: who of these may still come in, and as what? Asked for open streams and for tickets, which hold
 * no credential. One question for many, at most every few seconds.
 */
export const ActorsRequest = Type.Object({
  key_ids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1000 }),
  session_ids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 1000 }),
});
export type ActorsRequest = Static<typeof ActorsRequest>;

/** Those that are valid now, by id, with today's scopes, template limits and roles; whoever is missing was revoked, disabled or has expired. */
export interface ActorsReply {
  agents: AgentActor[];
  people: PersonActor[];
}

/** `GET /internal/ready` of every service (K20); 503 with the same body when `unready`. Answered by @countersign/http. */
export interface ReadyReply {
  status: 'ready' | 'degraded' | 'unready';
  checks: Record<string, { ok: boolean; required?: boolean; detail?: string }>;
}

/**
 * `GET /internal/people?project_id=…&ref=…` of the directory: the active person of a project an e-mail address or a `per_…` id names; everybody
 * of the project when `ref` is left out. Nobody is an empty list.
 */
export const PeopleQuery = Type.Object({
  project_id: Type.String({ minLength: 1, maxLength: 64 }),
  ref: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
});
export type PeopleQuery = Static<typeof PeopleQuery>;

export interface PeopleReply {
  people: { person_id: string; email: string; name: string; role: Role }[];
}

export interface WebhookSecretInForce {
  /** 64 hex digits. */
  secret: string;
  /** The same bytes as `whsec_…`. */
  standard_secret: string;
  fingerprint: string;
}

/**
 * `GET /internal/projects/{id}/webhook-secrets` of the directory (decision 11): what deliveries are signed with now. The single-valued headers
 * take the active secret, the Standard set both. 404 `project_not_found`.
 */
export interface WebhookSecretsReply {
  active: WebhookSecretInForce;
  pending: (WebhookSecretInForce & { promote_at: string | null }) | null;
}

/** `GET /internal/reviews/{id}/draft` of decisions: the unsent edits kept for a review. */
export interface DraftReply {
  draft: { payload: Record<string, unknown>; by: string; at: string } | null;
}
