/**
 * Who calls, as the gateway found out and the services trust it (docs/architecture.md). Travels signed in the `Countersign-Identity` header.
 */
export const SCOPES = [
  'reviews:create',
  'reviews:read',
  'reviews:decide',
  'reviews:claim',
  'reviews:assign',
  'reviews:release',
  'templates:read',
  'templates:write',
  'feedback:read',
  'audit:read',
  'stats:read',
] as const;
export type Scope = (typeof SCOPES)[number];

export type Role = 'admin' | 'reviewer';

/** An API key. It can ask and read; it can never decide (decision 7). */
export interface AgentActor {
  kind: 'agent';
  key_id: string;
  /** `gwk_` and eight characters: the public part of the key. */
  key_prefix: string;
  name: string;
  project_id: string;
  scopes: Scope[];
  /** Templates the key may use; null = all of its project. */
  template_ids: string[] | null;
  /** The person who answers for the key; may not approve what it asks (decision 30). */
  owner: string | null;
  /** Who answered for it before, or was shown it: they may not approve what it asks either. Absent where there is nobody. */
  former_owners?: string[];
  contact: string | null;
  default_reviewer: string | null;
  rate_limit_per_hour: number | null;
}

export interface PersonActor {
  kind: 'person';
  person_id: string;
  email: string;
  name: string;
  /** Project the request works in: the header `X-Project-Id`, else the person's first. */
  project_id: string;
  /** Role in each project the person belongs to. */
  roles: Record<string, Role>;
  session_id: string;
  /** How the person proved themselves, and when: recorded in decisions. */
  auth: { method: 'password' | 'passkey' | 'sign_in_link' | 'recovery_link'; at: string };
}

export interface AnonymousActor {
  kind: 'anonymous';
}

export type Actor = AgentActor | PersonActor | AnonymousActor;

/** Scopes a role carries in its project. */
export const ROLE_SCOPES: Record<Role, readonly Scope[]> = {
  admin: SCOPES,
  reviewer: ['reviews:read', 'reviews:decide', 'reviews:claim', 'reviews:release', 'templates:read', 'stats:read'],
};

/** The signed envelope a service accepts; bound to one service, one request and one body. */
export interface InternalIdentity {
  actor: Actor;
  /** Service the request is for. */
  aud: string;
  method: string;
  path: string;
  /** Lowercase hex SHA-256 of the exact body bytes; of no bytes when there is no body. */
  body_sha256: string;
  request_id: string;
  /** Unix milliseconds after which the identity is refused. */
  exp: number;
}
