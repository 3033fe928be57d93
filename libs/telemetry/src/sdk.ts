/** What is loaded when telemetry is turned on: the SDK, its exporters, and what connects them to the rest of this library. */
import { context, createTraceState, DiagLogLevel, diag, logs, metrics, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { envDetector, hostDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { Backend } from './backend.js';

const SCOPE = 'countersign';

export interface Identity {
  service: string;
  version: string;
  instance: string;
}

/** Starts the SDK, which reads the `OTEL_` variables of its specification. @param warn told when telemetry itself cannot be sent. */
export function startSdk(identity: Identity, warn: (message: string) => void): { backend: Backend; stop(): Promise<void> } {
  // The arguments after the first may hold answers of a collector; the first says what failed.
  const tell = (message: string) => warn(message.replace(/\s+/g, ' ').slice(0, 300));
  diag.setLogger({ error: tell, warn: tell, info() {}, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.WARN });
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.version': identity.version, 'service.instance.id': identity.instance }),
    resourceDetectors: [envDetector, hostDetector],
    serviceName: identity.service,
  });
  sdk.start();
  return {
    backend: {
      tracer: trace.getTracer(SCOPE, identity.version),
      meter: metrics.getMeter(SCOPE, identity.version),
      logs: logs.getLogger(SCOPE, identity.version),
      api: { trace, context, createTraceState },
      root: ROOT_CONTEXT,
    },
    async stop() {
      await sdk.shutdown();
      for (const api of [trace, metrics, logs, context, propagation, diag]) api.disable();
    },
  };
}
