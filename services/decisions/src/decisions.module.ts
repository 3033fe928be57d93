import { EventBusServer } from '@countersign/event-bus/nest-strategy';
import { createServiceApp } from '@countersign/http';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Consumers, LEAVES } from './consumers.js';
import { DecisionsController } from './decisions.controller.js';
import { DEPS, type DecisionsDeps } from './deps.js';
import { DECISIONS_PROJECTION } from './projection.js';

@Module({})
export class DecisionsModule {
  static with(deps: DecisionsDeps): DynamicModule {
    return { module: DecisionsModule, controllers: [DecisionsController, Consumers], providers: [{ provide: DEPS, useValue: deps }] };
  }
}

/** The service, initialised and consuming; whoever wants a socket calls `listen`. `close()` drains it. */
export async function createDecisionsApp(deps: DecisionsDeps): Promise<NestFastifyApplication> {
  const { bus, logger, identityKey, now, ready } = deps;
  const app = await createServiceApp(DecisionsModule.with(deps), {
    service: 'decisions',
    identityKey,
    logger,
    now,
    ready,
  });
  const { name: group, categories } = DECISIONS_PROJECTION;
  app.connectMicroservice({ strategy: new EventBusServer({ bus, group, categories: [...categories], leaves: LEAVES }) });
  await app.startAllMicroservices();
  return app;
}
