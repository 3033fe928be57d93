import type { Resolve } from '@countersign/egress';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore } from '@countersign/event-store';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import type { Pool } from 'pg';
import type { WebhookConfig } from './config.js';
import type { RecorderDeps } from './outcome/recorder.js';
import type { Sender } from './worker/attempt.js';

/** What the service is made of. */
export interface WebhooksDeps {
  /** Connections under the application's role; one of them is kept to listen. */
  pool: Pool;
  /** As writer `webhooks`. */
  store: EventStore;
  bus: EventBus;
  /** For the secrets, which the directory keeps. */
  client: ServiceClient;
  config: WebhookConfig & { allowNetworks: readonly string[]; publicUrl: string };
  logger: Logger;
  identityKey: string;
  /** Unix milliseconds, by which identities are judged and webhooks signed; this machine's when omitted. */
  now?: () => number;
  /** How `createServiceApp` is asked for readiness. */
  ready: () => Promise<Record<string, ReadyCheck>>;
  /** In `User-Agent`; 0.0.0 when omitted. */
  version?: string;
  /** Replaces the system's resolver: how a test makes a name change its address. */
  resolve?: Resolve;
}

/** What controllers and consumers work with. */
export interface Parts extends RecorderDeps {
  sender: Sender;
  config: WebhookConfig & { publicUrl: string };
  logger: Logger;
}

export const PARTS = Symbol('webhooks parts');
