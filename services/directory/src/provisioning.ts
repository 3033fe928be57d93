import { CATEGORY_PREFIXES, ROLE_SCOPES, SCOPES, type Scope, validateEvent } from '@countersign/contracts';
import { type EventMeta, type EventStore, PostgresEventStore } from '@countersign/event-store';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';

/** What the all-in-one and the operators' CLI need to work with the directory without HTTP. */

/** An event store for the directory's streams: the only one that may append to them (K18). */
export function directoryStore(options: { pool: Pool; logger?: Logger }): EventStore {
  return new PostgresEventStore({
    ...options,
    writer: 'directory',
    categories: CATEGORY_PREFIXES,
    validate: validateEvent,
  });
}

/** Who caused an event when somebody works at the server itself (CLI, first start). */
export const OPERATOR: EventMeta = { actor: { kind: 'system', id: 'operator' } };

/** Scopes by the use of a key (HRP §10). An agent polls, so it may read. */
export const SCOPE_PRESETS = {
  agent: ['reviews:create', 'reviews:read', 'templates:read', 'feedback:read'],
  reviewer: ROLE_SCOPES.reviewer,
  admin: SCOPES,
} as const satisfies Record<string, readonly Scope[]>;
export type ScopePreset = keyof typeof SCOPE_PRESETS;
