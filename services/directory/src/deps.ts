import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { DirectoryConfig } from './config.js';
import type { PasswordLanes } from './credentials/turnstile.js';

/** What the directory works with. */
export interface DirectoryDeps {
  /** As writer `directory`. */
  store: EventStore;
  /** Connections under the application's role. */
  pool: Pool;
  config: DirectoryConfig;
  logger: Logger;
  /** The queues for checking and making passwords; made with the application, and absent where a command works alone. */
  lanes?: PasswordLanes;
}

/** What its application needs in addition. */
export interface DirectoryAppDeps extends DirectoryDeps {
  /** Key of the gateway's signature. */
  identityKey: string;
  now?: () => number;
  ready: () => Promise<Record<string, ReadyCheck>>;
}

export const DEPS = Symbol('DirectoryDeps');
