import type { TSchema } from 'typebox';
import type { Scope } from './identity.js';

/** The services that answer HTTP. */
export type ServiceName = 'gateway' | 'intake' | 'decisions' | 'monitoring' | 'directory' | 'webhooks' | 'audit';

/**
 * Who may call an operation at all, checked by the gateway before anything else; whether this actor may do this to this object is the policy's.
 * `human`: a person's session; a key is told 403 `human_actor_required` before any look-up (decision 7).
 */
export type Access = 'public' | 'key' | 'session' | 'admin' | 'key_or_session' | 'human';

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
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  responses: Record<number, TSchema | null>;
  /** Codes from the error catalogue this operation can answer beside those every operation can. */
  errors: readonly string[];
  deprecated?: boolean;
  /** How a response is written when it is not one JSON document. */
  stream?: 'sse' | 'ndjson';
}
