/**
 * Every HTTP operation of the server: routing, access, validation and OpenAPI are read from this one table.
 *
 * O1. No two operations share an id, or a method and path.
 * O2. What an operation can answer is its `errors` and what follows from its access, input and method (`errorsOf`).
 */
import { ERRORS, type ErrorCode } from './errors.js';
import type { Operation } from './operation.js';
import { AUTH_OPERATIONS } from './operations/auth.js';
import { DECIDING_OPERATIONS } from './operations/deciding.js';
import { DELIVERY_OPERATIONS } from './operations/deliveries.js';
import { META_OPERATIONS, STREAM_OPERATIONS } from './operations/meta.js';
import { READING_OPERATIONS } from './operations/reading.js';
import { REVIEW_OPERATIONS } from './operations/reviews.js';
import { SETTINGS_OPERATIONS } from './operations/settings.js';
import { TEMPLATE_OPERATIONS } from './operations/templates.js';
import type { Static, TSchema } from './schema.js';

const TABLE = [
  ...META_OPERATIONS,
  ...STREAM_OPERATIONS,
  ...AUTH_OPERATIONS,
  ...SETTINGS_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...DECIDING_OPERATIONS,
  ...READING_OPERATIONS,
  ...DELIVERY_OPERATIONS,
] as const;

type Table = (typeof TABLE)[number];

export const OPERATIONS: readonly Operation[] = TABLE;

export type OperationId = Table['id'];

/** The operation with an id, with the literal types of its schemas. */
export type OperationOf<Id extends OperationId> = Extract<Table, { id: Id }>;

type Read<O, Member extends string> = O extends { readonly [M in Member]: infer S }
  ? S extends TSchema
    ? Static<S>
    : undefined
  : undefined;
export type ParamsOf<Id extends OperationId> = Read<OperationOf<Id>, 'params'>;
export type QueryOf<Id extends OperationId> = Read<OperationOf<Id>, 'query'>;
export type BodyOf<Id extends OperationId> = Read<OperationOf<Id>, 'body'>;

/** What the successes of an operation carry. */
export type ResponseOf<Id extends OperationId> = OperationOf<Id>['responses'] extends infer R
  ? { [Status in keyof R]: R[Status] extends TSchema ? Static<R[Status]> : undefined }[keyof R]
  : never;

const byId = new Map<string, Operation>(TABLE.map((o) => [o.id, o]));

export function operationOf<Id extends OperationId>(id: Id): OperationOf<Id> {
  return byId.get(id) as OperationOf<Id>;
}

const KEY_ERRORS = ['invalid_api_key', 'key_expired', 'ip_not_allowed'] as const;
/** `forbidden`: X-Project-Id names a project that is not the person's or the key's, or does not exist. */
const SESSION_ERRORS = ['invalid_token', 'csrf_failed', 'forbidden'] as const;
const ACCESS_ERRORS: Record<Operation['access'], readonly ErrorCode[]> = {
  public: [],
  key: ['missing_api_key', 'invalid_api_key_format', ...KEY_ERRORS, 'csrf_failed', 'forbidden'],
  session: ['missing_token', ...SESSION_ERRORS],
  admin: ['missing_token', ...SESSION_ERRORS],
  key_or_session: ['missing_credentials', ...SESSION_ERRORS, ...KEY_ERRORS],
  human: ['missing_credentials', ...SESSION_ERRORS, ...KEY_ERRORS, 'human_actor_required'],
};
/** Of every request that may bring a body, wanted or not. */
const BODY_ERRORS = [
  'invalid_json',
  'json_too_deep',
  'json_duplicate_key',
  'json_unsafe_number',
  'json_invalid_string',
  'json_forbidden_key',
  'unsupported_media_type',
  'payload_too_large',
  'request_timeout',
] as const;
const ANY_ERRORS = [
  'invalid_request',
  // A query parameter the operation does not have.
  'validation_failed',
  'uri_too_long',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
] as const;

/** Every code an operation can answer, in the order of the catalogue. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>([...ANY_ERRORS, ...ACCESS_ERRORS[operation.access], ...operation.errors]);
  if (operation.scopes.length > 0) codes.add('forbidden');
  if (operation.method !== 'GET') for (const code of BODY_ERRORS) codes.add(code);
  // A parameter that a URL parser reads as another path, such as `..`.
  if (operation.params) codes.add('route_not_found');
  if (operation.body && JSON.stringify(operation.body).includes('"x-later"')) codes.add('feature_not_available');
  if (operation.limited) codes.add('rate_limit_exceeded');
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Codes only the operators' commands meet. */
export const COMMAND_ERRORS: readonly ErrorCode[] = ['person_not_found', 'project_not_found'];

/** Codes of requests that reach no operation. */
export const ROUTING_ERRORS: readonly ErrorCode[] = ['route_not_found', 'method_not_allowed'];
