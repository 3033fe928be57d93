import { ApiInfo, Health, Readiness, StreamQuery, StreamTicket } from '../http/meta.js';
import { operation } from '../operation.js';
import { Type } from '../schema.js';
import { StreamFrame } from '../stream/frames.js';

const open = { service: 'gateway', access: 'public', scopes: [], limited: false, tag: 'server', errors: [] } as const;

export const META_OPERATIONS = [
  operation({ ...open, id: 'getHealth', method: 'GET', path: '/health', summary: 'Liveness check', responses: { 200: Health } }),
  operation({
    ...open,
    id: 'getReadiness',
    method: 'GET',
    path: '/health/ready',
    summary: 'Readiness check: the event store is reachable and migrated',
    responses: { 200: Readiness, 503: Readiness },
  }),
  operation({ ...open, id: 'getApiInfo', method: 'GET', path: '/api/v1', summary: 'Protocol and version', responses: { 200: ApiInfo } }),
  operation({
    ...open,
    id: 'getOpenApi',
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This OpenAPI description',
    responses: { 200: Type.Unsafe<Record<string, unknown>>({ type: 'object' }) },
  }),
  operation({
    ...open,
    id: 'getErrorPage',
    method: 'GET',
    path: '/docs/errors',
    summary: 'All error codes and their meaning',
    responses: { 200: Type.String() },
    mediaType: 'text/markdown; charset=utf-8',
  }),
  operation({
    ...open,
    id: 'getSecurityTxt',
    method: 'GET',
    path: '/.well-known/security.txt',
    summary: 'Where to report a vulnerability; 404 unless configured',
    errors: ['route_not_found'],
    responses: { 200: Type.String() },
    mediaType: 'text/plain; charset=utf-8',
  }),
] as const;

export const STREAM_OPERATIONS = [
  operation({
    id: 'createStreamTicket',
    method: 'POST',
    path: '/api/v1/events/ticket',
    service: 'gateway',
    access: 'key_or_session',
    scopes: ['reviews:read'],
    limited: false,
    tag: 'stream',
    summary: 'A one-time ticket for the stream, for callers that cannot send a header',
    responses: { 200: StreamTicket },
    errors: [],
  }),
  operation({
    id: 'streamEvents',
    method: 'GET',
    path: '/api/v1/events/stream',
    service: 'gateway',
    access: 'key_or_session',
    scopes: ['reviews:read'],
    limited: false,
    tag: 'stream',
    summary: 'Server-sent events of the project; replays from Last-Event-ID',
    query: StreamQuery,
    ticket: true,
    responses: { 200: StreamFrame },
    mediaType: 'text/event-stream',
    errors: ['missing_ticket', 'invalid_ticket', 'too_many_connections'],
  }),
] as const;
