import { type BeforeApplicationShutdown, type DynamicModule, Inject, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { META_PARTS, MetaController, type MetaParts } from './meta.controller.js';
import { CredentialWatch } from './stream/credential-watch.js';
import { StreamHub } from './stream/hub.js';
import { StreamController } from './stream/stream.controller.js';
import { Tickets } from './stream/tickets.js';

/** Aborted when the gateway begins to stop. */
const CLOSING = Symbol('Closing');

@Module({})
export class GatewayModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(CredentialWatch) private readonly watch: CredentialWatch,
    @Inject(CLOSING) private readonly closing: AbortController,
  ) {}

  static of(parts: { meta: MetaParts; hub: StreamHub; tickets: Tickets; watch: CredentialWatch; closing: AbortController }): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [MetaController, StreamController],
      providers: [
        { provide: META_PARTS, useValue: parts.meta },
        { provide: StreamHub, useValue: parts.hub },
        { provide: Tickets, useValue: parts.tickets },
        { provide: CredentialWatch, useValue: parts.watch },
        { provide: CLOSING, useValue: parts.closing },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.hub.start();
    await this.watch.start();
  }

  /** Before the server waits for its requests to end: streams and those who wait for a change do not end by themselves. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing.abort();
    await this.watch.close();
    await this.hub.close();
  }
}
