export { telemetryOn } from './backend.js';
export { type AttributesOf, METRICS, type MetricDeclaration, type MetricKey } from './catalogue.js';
export { describeMetrics, prometheusLabel, prometheusSeries } from './describe.js';
export { createLogger, type Logger, type LogLevel } from './logger.js';
export { count, observe, type Report, record } from './metrics.js';
export { TELEMETRY_SETTINGS } from './settings.js';
export {
  type Attributes,
  bound,
  continuing,
  currentTrace,
  detached,
  errorType,
  inTrace,
  type Span,
  type SpanOptions,
  startSpan,
  traced,
} from './spans.js';
export { startTelemetry, type Telemetry } from './start.js';
export type { TraceContext } from './trace-context.js';
