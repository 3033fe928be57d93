import { EventBusServer } from '@countersign/event-bus/nest-strategy';
import { createServiceApp } from '@countersign/http';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Consumers, LEAVES } from './consumers.js';
import { DEPS, type IntakeDeps } from './deps.js';
import { INTAKE_PROJECTION } from './projection.js';
import { ReviewsController } from './reviews.controller.js';
import { TemplatesController } from './templates/templates.controller.js';

@Module({})
export class IntakeModule {
  static with(deps: IntakeDeps): DynamicModule {
    return {
      module: IntakeModule,
      controllers: [ReviewsController, TemplatesController, Consumers],
      providers: [{ provide: DEPS, useValue: deps }],
    };
  }
}

/** The service, initialised and consuming; whoever wants a socket calls `listen`. `close()` drains it. */
export async function createIntakeApp(deps: IntakeDeps): Promise<NestFastifyApplication> {
  const { bus, logger, identityKey, now, ready } = deps;
  const app = await createServiceApp(IntakeModule.with(deps), {
    service: 'intake',
    identityKey,
    logger,
    now,
    ready,
  });
  const { name: group, categories } = INTAKE_PROJECTION;
  app.connectMicroservice({ strategy: new EventBusServer({ bus, group, categories: [...categories], leaves: LEAVES }) });
  await app.startAllMicroservices();
  return app;
}
