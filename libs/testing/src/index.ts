export { collectTelemetry } from './collected-telemetry.js';
export { given, type Led, type Story, type Teller } from './given.js';
export { OtlpReceiver, type ReceivedSpan } from './otlp-receiver.js';
export { type Answer, failing, ok, type Received, Receiver, status, verifyStandard } from './receiver.js';
export { defaultSets, type TestDatabase, testDatabase } from './test-database.js';
export { until } from './until.js';
