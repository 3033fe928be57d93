export { BUCKETS, DurableEventBus, type EventBusOptions } from './durable-event-bus.js';
export { Fenced } from './groups/failure.js';
export type { KafkaSettings } from './kafka/connection/client.js';
export { KafkaRefusedError } from './kafka/connection/refusal.js';
export { KafkaEventBus, type KafkaEventBusOptions } from './kafka/kafka-event-bus.js';
export { EventBusServer, type EventBusServerOptions, type EventHandler, groupTransport, OnEvents } from './nest-strategy.js';
export * from './port.js';
export { type Projection, rebuildProjection } from './projection.js';
export { StoreEventBus } from './store/store-event-bus.js';
