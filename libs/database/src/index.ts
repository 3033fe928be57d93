export { catalogDump } from './catalog.js';
export { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from './embedded/embedded.js';
export { freePorts } from './free-ports.js';
export { hasMigrations, type MigrateOptions, MigrationError, type MigrationSet, migrate } from './migrate.js';
export { isConflict, isPassing, Retryable, retryAfterOf } from './passing.js';
export { APP_ROLE, clientConfig, createPool, type PoolOptions, SERVING, typeParsers } from './pool.js';
export { reachable } from './reachable.js';
export { inTransaction, sqlState } from './transaction.js';
