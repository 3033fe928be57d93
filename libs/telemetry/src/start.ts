import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigOf } from '@countersign/config';
import { backend, useBackend } from './backend.js';
import type { Logger } from './logger.js';
import { observeEventLoop } from './metrics.js';
import type { TELEMETRY_SETTINGS } from './settings.js';

/** How long a process that ends waits for what is left to be sent. */
const FLUSH_MS = 1_500;

export interface Telemetry {
  /** Sends what has not been sent, within a second and a half, and ends. */
  stop(): Promise<void>;
}

/**
 * Turns telemetry on where an endpoint is set, for the whole process; before anything that is measured is made. Otherwise nothing of it is
 * even loaded.
 * @param options.service `service.name`.
 * @param options.logger told when telemetry itself cannot be sent.
 */
export async function startTelemetry(
  config: Pick<ConfigOf<typeof TELEMETRY_SETTINGS.settings>, 'endpoint'>,
  options: { service: string; version: string; logger: Logger },
): Promise<Telemetry> {
  if (config.endpoint === undefined) return { async stop() {} };
  if (backend() !== null) throw new Error('Telemetry is on already: there is one of it in a process.');
  const { startSdk } = await import('./sdk.js');
  const { service, version, logger } = options;
  // Not sent where it could not be sent anyway.
  const own = logger.child({ component: 'telemetry' });
  const sdk = startSdk({ service, version, instance: randomUUID() }, (message) => own.warn({ detail: message }, 'telemetry is not sent'));
  useBackend(sdk.backend);
  const stopObserving = observeEventLoop();
  return {
    async stop() {
      const patience = new AbortController();
      await Promise.race([sdk.stop().catch(() => {}), sleep(FLUSH_MS, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      stopObserving();
      useBackend(null);
    },
  };
}
