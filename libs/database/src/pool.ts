import { readJson } from '@countersign/evidence';
import { telemetryOn } from '@countersign/telemetry';
import pg from 'pg';
import { TracedPool } from './traced-pool.js';

/** The role every service's connections run under; it may do what the migrations granted it and nothing else (K18). */
export const APP_ROLE = 'countersign_app';

const INT8 = 20;
const JSON_TYPES: readonly number[] = [114, 3802];

/** bigint arrives as a number while it is exact; past 2^53 it stays the text PostgreSQL sent, never a rounded number. */
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/** How values of the database become values here; whoever makes a pool of its own gives it these. */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary' && oid === INT8) return parseInt8;
    // The driver would leave keys with escapes to the engine, which misreads them.
    if (format !== 'binary' && JSON_TYPES.includes(oid)) return readJson;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

export interface PoolOptions {
  connectionString: string;
  /** Role the connections switch to as they start; the login role must be a member of it. */
  role?: string;
  /** Most connections; 10 when omitted. */
  max?: number;
  applicationName?: string;
  /** Whether it serves callers, who must be answered: nothing is waited for longer than ten seconds. Operators' work takes its time. */
  serving?: boolean;
}

/**
 * How long a caller waits for a connection, and a statement for its end, in milliseconds: what takes longer is answered 503, before the gateway
 * gives up on it, and is not left behind to happen later. A connection that says nothing at all, as behind a firewall that forgot it, is given
 * up a second later; without that it would be waited for until the system gives it up, a quarter of an hour or never.
 */
const PATIENCE_MS = 10_000;

/** That, as the driver is told it, for pools that others make. */
export const SERVING = {
  connectionTimeoutMillis: PATIENCE_MS,
  statement_timeout: PATIENCE_MS,
  query_timeout: PATIENCE_MS + 1_000,
  // A process that stands still or cannot be reached keeps nothing locked for longer.
  idle_in_transaction_session_timeout: 3 * PATIENCE_MS,
} satisfies pg.PoolConfig;

/**
 * A pool of connections to one database.
 *
 * The role is set in the startup packet, so it costs no round trip and survives RESET. An idle connection that breaks is dropped and
 * replaced by the pool; its error is not thrown at anybody.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const config = { ...clientConfig(options), max: options.max ?? 10, ...(options.serving ? SERVING : {}) };
  const pool = telemetryOn() ? new TracedPool(config) : new pg.Pool(config);
  pool.on('error', () => {});
  return pool;
}

/** What a single `pg.Client` needs to behave as the pool's connections do. */
export function clientConfig(options: PoolOptions): pg.ClientConfig {
  if (options.role !== undefined && !/^[a-z_][a-z0-9_]*$/.test(options.role)) {
    throw new Error(`"${options.role}" is not a role name this library sets: lower-case letters, digits and _ only.`);
  }
  return {
    connectionString: options.connectionString,
    application_name: options.applicationName,
    options: options.role ? `-c role=${options.role}` : undefined,
    types: typeParsers,
    keepAlive: true,
  };
}
