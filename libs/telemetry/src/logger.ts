import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { exportLine } from './log-export.js';
import { redactLine } from './redact.js';
import { currentTraceIds } from './spans.js';

export type { Logger };

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** What of an error may be written: PostgreSQL's `detail`, `where` and parameters hold rows, so nothing is taken but these. */
interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError;
}

function loggedError(error: unknown, depth = 0): LoggedError | unknown {
  if (!(error instanceof Error)) return error;
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack ? { stack: error.stack } : {}),
    ...(error.cause !== undefined && depth < 5 ? { cause: loggedError(error.cause, depth + 1) } : {}),
  };
}

function finish(line: string): string {
  const safe = redactLine(line);
  exportLine(safe);
  return safe;
}

/**
 * A logger that writes one JSON object a line: `level` (a word), `time` (ISO 8601), `service`, `msg`, and what the call adds; inside of
 * a trace `trace_id` and `span_id`. While telemetry is on, the lines are sent as well.
 *
 * Callers do not log payloads, credentials or e-mail addresses; `redactLine` is the net below them, not the rule.
 * @param options.destination where lines go; the standard output when omitted.
 */
export function createLogger(options: { service: string; level?: LogLevel; destination?: DestinationStream }): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: { service: options.service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    serializers: { err: loggedError, error: loggedError, cause: loggedError },
    mixin: currentTraceIds,
    hooks: { streamWrite: finish },
  };
  return options.destination ? pino(settings, options.destination) : pino(settings);
}
