import { declareSettings } from '@countersign/config';

const SAMPLERS = ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'];

/** The variables of the OpenTelemetry specification that matter here; its SDK reads these and its further `OTEL_` ones itself. */
export const TELEMETRY_SETTINGS = declareSettings('Telemetry', {
  endpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    type: 'url',
    optional: true,
    meaning: 'OTLP/HTTP endpoint for traces, metrics and logs, such as http://collector:4318. Telemetry is off when not set.',
  },
  protocol: {
    env: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    type: 'enum',
    values: ['http/protobuf', 'http/json'],
    default: 'http/protobuf',
    meaning: 'Encoding of what is sent.',
  },
  headers: {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    type: 'string',
    optional: true,
    secret: true,
    meaning: 'Headers sent with it, as name=value pairs separated by commas.',
  },
  resource: {
    env: 'OTEL_RESOURCE_ATTRIBUTES',
    type: 'string',
    optional: true,
    meaning: 'Further resource attributes, such as deployment.environment.name=production.',
  },
  sampler: {
    env: 'OTEL_TRACES_SAMPLER',
    type: 'enum',
    values: SAMPLERS,
    default: 'parentbased_always_on',
    meaning: 'Which traces are recorded. The parent-based ones follow the decision of a caller that sent a traceparent.',
  },
  samplerRatio: {
    env: 'OTEL_TRACES_SAMPLER_ARG',
    type: 'string',
    optional: true,
    pattern: /^(0|1|0?\.\d+|1\.0+)$/,
    meaning: 'Share of traces that the traceidratio samplers record, from 0 to 1.',
  },
  spanDelay: {
    env: 'OTEL_BSP_SCHEDULE_DELAY',
    type: 'int',
    default: 5_000,
    min: 10,
    meaning: 'Milliseconds that spans are collected before they are sent.',
  },
  metricInterval: {
    env: 'OTEL_METRIC_EXPORT_INTERVAL',
    type: 'int',
    default: 60_000,
    min: 100,
    meaning: 'Milliseconds between two exports of the metrics.',
  },
});
