import { type DynamicModule, Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { META_PARTS, MetaController, type MetaParts } from './meta.controller.js';
import { CredentialWatch } from './stream/credential-watch.js';
import { StreamHub } from './stream/hub.js';
import { StreamController } from './stream/stream.controller.js';
import { Tickets } from './stream/tickets.js';

@Module({})
export class GatewayModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(CredentialWatch) private readonly watch: CredentialWatch,
  ) {}

  static of(parts: { meta: MetaParts; hub: StreamHub; tickets: Tickets; watch: CredentialWatch }): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [MetaController, StreamController],
      providers: [
        { provide: META_PARTS, useValue: parts.meta },
        { provide: StreamHub, useValue: parts.hub },
        { provide: Tickets, useValue: parts.tickets },
        { provide: CredentialWatch, useValue: parts.watch },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.hub.start();
    await this.watch.start();
  }

  /** Before the server waits for its connections to end: streams do not end by themselves. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.watch.close();
    await this.hub.close();
  }

  async onApplicationShutdown(): Promise<void> {}
}
