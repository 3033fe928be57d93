/**
 * Finished log lines as OTLP log records. They are taken after the net for secrets (redact.ts), so that what is sent is what is written.
 */
import type { AnyValue } from '@opentelemetry/api';
import { backend } from './backend.js';

/** Levels as lines say them → OTLP's severity numbers. */
const SEVERITIES: Record<string, number> = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 };

export function exportLine(line: string): void {
  const on = backend();
  if (on === null) return;
  const { level, time, msg, trace_id, span_id, ...attributes } = JSON.parse(line) as Record<string, AnyValue>;
  // What telemetry says of itself is not sent: that it cannot be sent is what it says.
  if (attributes.component === 'telemetry') return;
  on.logs.emit({
    timestamp: Date.parse(String(time)),
    severityNumber: SEVERITIES[String(level)] ?? 0,
    severityText: String(level),
    body: msg,
    attributes,
    context: on.api.context.active(),
  });
}
