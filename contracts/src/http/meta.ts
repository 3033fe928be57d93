/** Server status and metadata, and tickets for its stream (HRP §1.1, §6.3; decisions 13, K20). */
import { choice, mapOf, message, type Static, Type } from '../schema.js';
import { text, timestamp } from './primitives.js';

export const Health = message(
  'Health',
  Type.Object({ status: Type.Unsafe<'ok'>({ type: 'string', const: 'ok' }), timestamp: timestamp() }),
);
export type Health = Static<typeof Health>;

export const Readiness = message(
  'Readiness',
  Type.Object({
    status: choice(['ready', 'degraded']),
    checks: mapOf(Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) })),
    timestamp: timestamp(),
  }),
);
export type Readiness = Static<typeof Readiness>;

export const ApiInfo = message(
  'ApiInfo',
  Type.Object({
    version: Type.Unsafe<'1'>({ type: 'string', const: '1' }),
    protocol: Type.Unsafe<'HRP/1.0'>({ type: 'string', const: 'HRP/1.0' }),
    name: Type.String(),
    mode: Type.String(),
  }),
);
export type ApiInfo = Static<typeof ApiInfo>;

export const StreamTicket = message(
  'StreamTicket',
  Type.Object({ ticket: Type.String({ pattern: '^[0-9a-f]{48}$' }), expires_in: Type.Integer({ minimum: 1, description: 'Seconds.' }) }),
);
export type StreamTicket = Static<typeof StreamTicket>;

export const StreamQuery = message('StreamQuery', Type.Object({ ticket: Type.Optional(text(512, 1)) }));
export type StreamQuery = Static<typeof StreamQuery>;
