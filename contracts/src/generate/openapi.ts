import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCode } from '../errors.js';
import { SESSION_COOKIE } from '../http/auth.js';
import { ErrorBody } from '../http/error-body.js';
import type { Operation } from '../operation.js';
import { errorsOf, OPERATIONS, ROUTING_ERRORS } from '../operations.js';
import { idOfMessage, messages, type TSchema } from '../schema.js';
import { WEBHOOKS } from '../webhooks/bodies.js';
import { WebhookHeaders } from '../webhooks/headers.js';
import { examplesOf } from './examples.js';
import { components, inDocument, type Json, reached } from './json-schema.js';

const TAGS = {
  server: 'Server status and metadata.',
  auth: 'Authentication.',
  settings: 'A project, its keys, its secret, its people.',
  templates: 'Review templates: fields and available actions.',
  reviews: 'Review requests and their outcome.',
  deciding:
    'Actions by people. API keys are refused with human_actor_required; archiving takes the scope reviews:decide, which a key may have.',
  feedback: 'Past decisions and their feedback.',
  stats: 'Counts.',
  audit: 'Tamper-evident audit log.',
  webhooks: 'Webhook deliveries.',
  stream: 'Server-sent events.',
} as const;

/** OpenAPI 3.1 of every operation and webhook, from the table of operations. `examples` is the folder of the examples. */
export function openApi(examples: string, version: string): Json {
  const schemas = OPERATIONS.flatMap((o) => [o.params, o.query, o.body, ...Object.values(o.responses)]).filter((s): s is TSchema => !!s);
  const used = reached(...schemas, ErrorBody, ...Object.values(WEBHOOKS));
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: operationObject(operation, examples) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'HRP v1: an agent requests a review, a person decides, and a signed webhook delivers the decision. Query parameters an operation does not have are refused, and so are unknown fields of a body whose schema has additionalProperties false; what is sent about reviews may hold unknown fields, which are ignored. Fields of unsupported features are refused with feature_not_available. Any path may also return route_not_found and method_not_allowed.',
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(Object.entries(WEBHOOKS).map(([event, schema]) => [event, webhookObject(event, schema, examples)])),
    components: {
      schemas: components(used),
      examples: exampleComponents(used, examples),
      headers: HEADERS,
      parameters: HEADER_PARAMETERS,
      responses: errorResponses(),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'gwk_…', description: 'An API key of an agent.' },
        session: { type: 'http', scheme: 'bearer', description: 'The token returned by sign-in.' },
        sessionCookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Inbox only; same-site requests.' },
        ticket: { type: 'apiKey', in: 'query', name: 'ticket', description: 'Single use, from POST /api/v1/events/ticket.' },
      },
    },
  };
}

const KEY = { apiKey: [] };
const SESSION = [{ session: [] }, { sessionCookie: [] }];
const SECURITY: Record<Operation['access'], Json[]> = {
  public: [],
  key: [KEY],
  session: SESSION,
  admin: SESSION,
  human: SESSION,
  key_or_session: [KEY, ...SESSION],
};

const HEADERS: Json = {
  RequestId: { description: 'Id of this request; the one you sent, if it was valid.', schema: { type: 'string' } },
  Seen: {
    description: 'Send it with your next list request to read your own write.',
    schema: { type: 'string', pattern: '^\\d+\\.\\d+$' },
  },
  Replay: {
    description: 'true when this response repeats an earlier one and nothing was done again.',
    schema: { type: 'string', const: 'true' },
  },
  ETag: { description: 'Strong ETag; for If-None-Match.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
  Deprecation: { description: 'true: use the successor given in Link.', schema: { type: 'string', const: 'true' } },
  Sunset: { description: 'When this operation ends.', schema: { type: 'string' } },
  Link: { description: '<path>; rel="successor-version"', schema: { type: 'string' } },
};

function operationObject(operation: Operation, examples: string): Json {
  const { deprecated } = operation;
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [operation.tag],
    ...(deprecated ? { deprecated: true, description: `Deprecated: use ${deprecated.successor}. Ends ${deprecated.sunset}.` } : {}),
    security: [...(SECURITY[operation.access] ?? []), ...(operation.ticket ? [{ ticket: [] }] : [])],
    'x-access': operation.access,
    'x-scopes': [...operation.scopes],
    ...(operation.access === 'human' ? { 'x-human-only': true } : {}),
    ...(operation.limited ? { 'x-rate-limited': true } : {}),
    parameters: parametersOf(operation),
    ...(operation.body
      ? { requestBody: { required: !operation.bodyOptional, content: { 'application/json': content(operation.body, examples) } } }
      : {}),
    responses: responsesOf(operation, examples),
  };
}

function parametersOf(operation: Operation): Json[] {
  const isList = Object.values(operation.responses).some(
    (schema) => 'items' in ((schema as { properties?: Json } | null)?.properties ?? {}),
  );
  const headers: (keyof typeof HEADER_PARAMETERS)[] = [
    'RequestId',
    ...(operation.access === 'public' || operation.access === 'key' ? [] : (['ProjectId'] as const)),
    ...(operation.idempotent ? (['IdempotencyKey'] as const) : []),
    ...(operation.conditional ? (['IfNoneMatch'] as const) : []),
    ...(isList && operation.method === 'GET' ? (['Seen'] as const) : []),
    ...(operation.mediaType === 'text/event-stream' ? (['LastEventId'] as const) : []),
  ];
  return [
    ...parameters(operation.params, 'path'),
    ...parameters(operation.query, 'query').filter((parameter) => !(operation.ticket && parameter.name === 'ticket')),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

const inHeader = (name: string, description: string, schema: Json = { type: 'string' }) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});
const HEADER_PARAMETERS = {
  RequestId: inHeader('X-Request-Id', 'Echoed, and forwarded on webhooks this request causes.', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{8,128}$',
  }),
  ProjectId: inHeader(
    'X-Project-Id',
    'Project a person acts in; default: their first one. An API key is of one project, and refused with another here.',
  ),
  IdempotencyKey: inHeader('Idempotency-Key', 'Same as idempotency_key in the body; shared by all API keys of the project.', {
    type: 'string',
    minLength: 1,
    maxLength: 255,
  }),
  IfNoneMatch: inHeader('If-None-Match', 'ETag from a previous response.'),
  Seen: inHeader('Countersign-Seen', 'As returned by a previous write: the list waits up to a second to include it.'),
  LastEventId: inHeader('Last-Event-ID', 'id of the last frame received.'),
};

function parameters(schema: TSchema | undefined, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, TSchema>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = inDocument(property) as { description?: string };
    return { name, in: place, required: required.includes(name), ...(description ? { description } : {}), schema: rest };
  });
}

/** A status that is both a success's and an error's (readiness) carries either body. */
function responsesOf(operation: Operation, examples: string): Json {
  const good = successes(operation, examples) as Record<string, Answer>;
  const codes = errorsOf(operation);
  const both = byStatus(codes).filter(([status]) => status in good);
  const merged = both.map(([status, some]) => [status, either(good[status] as Answer, errorResponse(some) as Answer)]);
  return { ...failures(codes), ...good, ...Object.fromEntries(merged) };
}

type Answer = Json & { description: string; content: { 'application/json': { schema: Json } } };

function either(good: Answer, bad: Answer): Json {
  const schema = { anyOf: [good, bad].map((answer) => answer.content['application/json'].schema) };
  return {
    ...good,
    description: `${good.description}; ${bad.description}`,
    content: { 'application/json': { ...good.content['application/json'], schema } },
  };
}

function successes(operation: Operation, examples: string): Json {
  const answers = Object.entries(operation.responses).map(([status, schema]) => [
    status,
    {
      description:
        status === '200' && operation.idempotent ? 'The review already created with this idempotency key' : (REASONS[status] ?? 'Success'),
      headers: successHeaders(operation),
      ...(schema ? { content: { [operation.mediaType ?? 'application/json']: content(schema, examples) } } : {}),
    },
  ]);
  const unchanged = { description: 'Not changed', headers: { 'X-Request-Id': headerRef('RequestId'), ETag: headerRef('ETag') } };
  return { ...Object.fromEntries(answers), ...(operation.conditional ? { 304: unchanged } : {}) };
}

const REASONS: Record<string, string> = { 200: 'Done', 201: 'Made', 204: 'Done; no body', 503: 'Not ready' };

const headerRef = (name: string): Json => ({ $ref: `#/components/headers/${name}` });

function successHeaders(operation: Operation): Json {
  const writes = operation.method !== 'GET' && operation.tag !== 'auth' && operation.service !== 'gateway';
  return {
    'X-Request-Id': headerRef('RequestId'),
    ...(writes ? { 'Countersign-Seen': headerRef('Seen'), 'Idempotent-Replay': headerRef('Replay') } : {}),
    ...(operation.conditional ? { ETag: headerRef('ETag') } : {}),
    ...(operation.deprecated ? { Deprecation: headerRef('Deprecation'), Sunset: headerRef('Sunset'), Link: headerRef('Link') } : {}),
  };
}

/** One response for each status. Operations with the same codes for a status share it. */
function failures(codes: ErrorCode[]): Json {
  return Object.fromEntries(
    byStatus(codes).map(([status, some]) => [status, { $ref: `#/components/responses/${responseName(status, some)}` }]),
  );
}

function byStatus(codes: readonly ErrorCode[]): [number, ErrorCode[]][] {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  return statuses.map((status) => [status, codes.filter((code) => ERRORS[code].status === status)]);
}

function errorResponses(): Json {
  const sets = [...OPERATIONS.map(errorsOf), ...ROUTING_ERRORS.map((code) => [code])].flatMap(byStatus);
  return Object.fromEntries(sets.map(([status, codes]) => [responseName(status, codes), errorResponse(codes)]));
}

/** A short name that changes only with the codes it stands for. */
function responseName(status: number, codes: readonly ErrorCode[]): string {
  return codes.length === 1 ? (codes[0] as string) : `${status}.${createHash('sha256').update(codes.join()).digest('hex').slice(0, 8)}`;
}

function errorResponse(codes: readonly ErrorCode[]): Json {
  const retry = codes.some((code) => [429, 503].includes(ERRORS[code].status));
  return {
    description: codes.join(', '),
    headers: { 'X-Request-Id': headerRef('RequestId'), ...(retry ? { 'Retry-After': headerRef('RetryAfter') } : {}) },
    content: {
      'application/json': {
        schema: {
          allOf: [
            inDocument(ErrorBody),
            { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: [...codes] } } } } },
          ],
        },
      },
    },
  };
}

function webhookObject(event: string, schema: TSchema, examples: string): Json {
  const { properties, required } = WebhookHeaders as unknown as { properties: Record<string, TSchema>; required: string[] };
  const named = Object.entries(properties).filter(([name]) => name !== 'Content-Type');
  return {
    post: {
      summary: `Sent to callback_url: ${event}`,
      parameters: named.map(([name, property]) => ({
        name,
        in: 'header',
        required: required.includes(name),
        schema: inDocument(property),
      })),
      requestBody: { required: true, content: { 'application/json': content(schema, examples) } },
      responses: { '2XX': { description: 'Delivered. Any other status is retried; 410 ends the delivery.' } },
    },
  };
}

/** A media type's schema and, where it is a message, references to its examples. */
function content(schema: TSchema, examples: string): Json {
  const id = (schema as { $id?: string }).$id;
  const names =
    id !== undefined && messages().get(id) === schema ? examplesOf(examples, idOfMessage(schema)).valid.map(({ name }) => name) : [];
  return {
    schema: inDocument(schema),
    ...(names.length > 0
      ? { examples: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${id}.${name}` }])) }
      : {}),
  };
}

function exampleComponents(ids: string[], examples: string): Json {
  return Object.fromEntries(ids.flatMap((id) => examplesOf(examples, id).valid.map(({ name, value }) => [`${id}.${name}`, { value }])));
}
