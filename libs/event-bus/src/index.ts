export { Fenced } from './failure.js';
export { EventBusServer, type EventBusServerOptions, type EventHandler, groupTransport, OnEvents } from './nest-strategy.js';
export * from './port.js';
export { type Projection, rebuildProjection } from './projection.js';
export { BUCKETS, StoreEventBus, type StoreEventBusOptions } from './store-event-bus.js';
