/**
 * The event bus as a Nest transport: a service lists what it consumes as methods of one controller.
 *
 *   // consumers.ts
 *   @Controller()
 *   export class Consumers {
 *     @OnEvents('review.requested')
 *     async requested(events: StoredEvent<ReviewRequested>[], context: BatchContext) { await context.tx.query(…); }
 *
 *     @OnEvents(['review.decided', 'review.expired'])
 *     async settled(events: StoredEvent[], context: BatchContext) { … }
 *   }
 *
 *   // main.ts
 *   app.connectMicroservice({ strategy: new EventBusServer({ bus, group: 'audit', categories: ['review'], leaves: ['review.claimed'] }) });
 *   await app.startAllMicroservices();   // subscribes; app.close() drains
 *
 * T1 The types of the handlers are what the subscription handles, `leaves` what it knowingly does not need; anything else parks its key (K10).
 * T2 Consecutive events with the same handler arrive together, in order, all in the batch's one transaction `context.tx`.
 * T3 What a handler throws reaches the bus as it was thrown, so that `Retryable` is retried and poison parks its key. Nest would log it and
 *    hand on "Internal server error": `OnEvents` brings the filter that prevents it, and a bare `@EventPattern` is refused at the start.
 *
 * Several groups in one service: one `EventBusServer` each, and `@OnEvents('review.decided', { group: 'webhooks' })` on the handlers of a group.
 * A handler that names no group belongs to every server of its application. Guards, pipes and interceptors run as usual.
 */
import type { StoredEvent } from '@countersign/event-store';
import { UseFilters } from '@nestjs/common';
import {
  BaseRpcContext,
  Ctx,
  type CustomTransportStrategy,
  EventPattern,
  type MessageHandler,
  Payload,
  Server,
} from '@nestjs/microservices';
import { isObservable, lastValueFrom, type Observable, throwError } from 'rxjs';
import type { BatchContext, EventBus, Subscription } from './port.js';

const MARK = 'countersign.event-bus';

/** Transport of one group's handlers. */
export function groupTransport(group: string): symbol {
  return Symbol.for(`${MARK}:${group}`);
}

const passErrorsOn = { catch: (error: unknown): Observable<never> => throwError(() => error) };

/** A method that handles events: `(events: StoredEvent<…>[], context: BatchContext) => Promise<void>`. */
export type EventHandler = (events: never[], context: BatchContext) => Promise<void>;
type EventHandlerDecorator = <H extends EventHandler>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<H>) => void;

/** Handles events of these types. */
export function OnEvents(types: string | readonly string[], options: { group?: string } = {}): EventHandlerDecorator {
  const transport = options.group === undefined ? undefined : groupTransport(options.group);
  const patterns = typeof types === 'string' ? [types] : [...types];
  return (target, key, descriptor) => {
    EventPattern(patterns, transport, { [MARK]: true })(target, key, descriptor);
    UseFilters(passErrorsOn)(target, key, descriptor);
    Payload()(target, key, 0);
    Ctx()(target, key, 1);
  };
}

export interface EventBusServerOptions extends Omit<Subscription, 'handles' | 'onBatch'> {
  bus: EventBus;
}

/** One subscription of a Nest application. `connectMicroservice({ strategy: … })`, one for each group. */
export class EventBusServer extends Server implements CustomTransportStrategy {
  override readonly propagatesEventHandlerErrors = true;
  readonly #options: EventBusServerOptions;
  #subscription: Promise<{ close(): Promise<void> }> | null = null;

  constructor(options: EventBusServerOptions) {
    super();
    this.#options = options;
    this.transportId = groupTransport(options.group);
  }

  override addHandler(pattern: unknown, callback: MessageHandler, isEventHandler = false, extras: Record<string, unknown> = {}): void {
    const type = String(pattern);
    if (!isEventHandler || extras[MARK] !== true) {
      throw new Error(
        `The handler of ${type} cannot be served by the event bus (group ${this.#options.group}): declare it with @OnEvents.`,
      );
    }
    if (this.messageHandlers.has(type))
      throw new Error(`${type} has two handlers in group ${this.#options.group}; order would be undefined.`);
    super.addHandler(type, callback, isEventHandler, extras);
  }

  listen(callback: (error?: unknown) => void): void {
    const { bus, ...subscription } = this.#options;
    this.#subscription = bus.subscribe({
      ...subscription,
      handles: [...this.messageHandlers.keys()],
      onBatch: (events, context) => this.#dispatch(events, context),
    });
    this.#subscription.then(() => callback(), callback);
  }

  async close(): Promise<void> {
    await (await this.#subscription?.catch(() => null))?.close();
  }

  on(): never {
    throw new Error('The event bus has no transport events to listen to.');
  }

  unwrap<T>(): T {
    return this.#options.bus as T;
  }

  async #dispatch(events: StoredEvent[], context: BatchContext): Promise<void> {
    for (let start = 0; start < events.length; ) {
      const handler = this.#handlerOf(events[start]);
      let end = start + 1;
      // Nest wraps a method once for each of its types; what they have in common is the decorator's extras.
      while (end < events.length && this.#handlerOf(events[end]).extras === handler.extras) end++;
      const run = events.slice(start, end);
      await this.#observed(context, async () => {
        const result: unknown = await handler(run, context);
        if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
      });
      start = end;
    }
  }

  #handlerOf(event: StoredEvent | undefined): MessageHandler {
    return this.messageHandlers.get(event?.type ?? '') as MessageHandler;
  }

  /** Nest's processing hooks around one run. A hook may call `done` whenever it likes; the batch waits for it. */
  async #observed(context: BatchContext, run: () => Promise<void>): Promise<void> {
    const transport = groupTransport(this.#options.group);
    const hookContext = new BaseRpcContext([context]);
    try {
      await new Promise<void>((resolve, reject) => {
        const done = () => {
          const outcome = run();
          outcome.then(resolve, reject);
          return outcome.catch(() => {});
        };
        Promise.resolve(this.onProcessingStartHook(transport, hookContext, done)).catch(reject);
      });
    } finally {
      this.onProcessingEndHook?.(transport, hookContext);
    }
  }
}
