import type { ErrorCode } from './errors.js';
import type { Scope } from './identity.js';
import type { TSchema } from './schema.js';

/** The services that answer HTTP. */
export type ServiceName = 'gateway' | 'intake' | 'decisions' | 'monitoring' | 'directory' | 'webhooks' | 'audit';

/**
 * Who may call an operation at all, checked by the gateway before anything else; whether this actor may do this to this object is the policy's.
 * `human`: a person's session; a key is told 403 `human_actor_required` before any look-up (decision 7).
 */
export type Access = 'public' | 'key' | 'session' | 'admin' | 'key_or_session' | 'human';

/** How a body is written when it is not one JSON document. */
export type MediaType = 'text/event-stream' | 'application/x-ndjson' | 'text/plain; charset=utf-8' | 'text/markdown; charset=utf-8';

/** One HTTP operation: the single source of routing, access, validation and OpenAPI. */
export interface Operation {
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI template, such as `/api/v1/reviews/{id}`. */
  path: string;
  service: ServiceName;
  access: Access;
  scopes: readonly Scope[];
  /** Counts against the key's hourly limit. */
  limited: boolean;
  summary: string;
  tag: string;
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** The body may be left out; an empty one stands for `{}`. */
  bodyOptional?: boolean;
  /** What each success carries; null = no body. The schema of a stream is that of one frame or line. */
  responses: Readonly<Record<number, TSchema | null>>;
  /** Media type of the successes when it is not application/json. */
  mediaType?: MediaType;
  /** Codes from the catalogue this operation can answer beside those that follow from its access, input and method (`errorsOf`). */
  errors: readonly ErrorCode[];
  /** What to call instead, and until when this is answered (an HTTP date); told in the headers Deprecation, Sunset and Link. */
  deprecated?: { successor: string; sunset: string };
  /** A one-time ticket in the query stands in for the credential in the header (stream). */
  ticket?: boolean;
  /** Accepts `Idempotency-Key`. */
  idempotent?: boolean;
  /** Answers `If-None-Match` with 304. */
  conditional?: boolean;
}

/** Keeps the literal types of an operation, so that `OperationOf` can tell what it takes and gives. */
export function operation<const O extends Operation>(o: O): O {
  return o;
}
