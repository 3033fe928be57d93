/** The bus of a single database: consumers read the event store itself. No publish and no copy: what is not committed is not delivered. */
import { DurableEventBus, type EventBusOptions } from '../durable-event-bus.js';
import { StoreFeed } from './store-feed.js';

export class StoreEventBus extends DurableEventBus {
  constructor(options: EventBusOptions) {
    const { store, logger } = options;
    super(options, ({ listener }) => new StoreFeed({ store, listener, logger }));
  }
}
