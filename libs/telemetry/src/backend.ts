/**
 * The one place that knows whether telemetry is on. Everything that is measured asks here, and while it is off nothing of OpenTelemetry has
 * been loaded (sdk.ts is imported when it is turned on).
 */
import type { ContextAPI, createTraceState, Logger, Meter, TraceAPI, Tracer } from '@opentelemetry/api';

export interface Backend {
  tracer: Tracer;
  meter: Meter;
  /** Takes finished log lines. */
  logs: Logger;
  api: { trace: TraceAPI; context: ContextAPI; createTraceState: typeof createTraceState };
  root: ReturnType<ContextAPI['active']>;
}

let current: Backend | null = null;

export const backend = (): Backend | null => current;

/** Whether anything is sent anywhere. Known once the process has read its settings, before it makes anything that is measured. */
export const telemetryOn = (): boolean => current !== null;

export function useBackend(next: Backend | null): void {
  current = next;
}
