/** Which failures of the store pass: for libraries that stand on its port and know no database. */
export { isPassing, Retryable, retryAfterOf } from '@countersign/database';
export { EventStoreUnavailableError } from './append/appender.js';
export { InvalidAppendError } from './append/request.js';
export { hasBuckets } from './bucket-check.js';
export * from './handle.js';
export { INSTALLATION_PROJECT, idOf, isId, newId, prefixOf, uuidOf } from './ids.js';
export { isRedaction, REDACTED, redactStream } from './integrity/redact.js';
export { EVENT_STORE_MIGRATIONS } from './migrations.js';
export { PostgresEventStore, type PostgresEventStoreOptions } from './postgres-event-store.js';
export * from './types.js';
export { UnknownEventError } from './unknown-event.js';
