export { MemoryEventStore, type Reach } from './memory-event-store.js';
export { bucketOf, MemoryLog, type MemoryLogOptions, type TimerRow } from './memory-log.js';
