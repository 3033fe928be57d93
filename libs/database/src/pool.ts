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
}

/**
 * A pool of connections to one database.
 *
 * The role is set in the startup packet, so it costs no round trip and survives RESET. An idle connection that breaks is dropped and
 * replaced by the pool; its error is not thrown at anybody.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const config = { ...clientConfig(options), max: options.max ?? 10 };
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
