import { type DynamicModule, Module } from '@nestjs/common';
import { Consumers } from './consumers.js';
import { DeliveriesController } from './deliveries.controller.js';
import { PARTS, type Parts } from './deps.js';

@Module({ controllers: [DeliveriesController, Consumers] })
export class WebhooksModule {}

export function webhooksModule(parts: Parts): DynamicModule {
  return { module: WebhooksModule, providers: [{ provide: PARTS, useValue: parts }] };
}
