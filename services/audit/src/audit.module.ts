import { EventBusServer } from '@countersign/event-bus/nest-strategy';
import { createServiceApp } from '@countersign/http';
import { type DynamicModule, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Consumers } from './consumers.js';
import { type AuditContext, type AuditDeps, CONTEXT } from './deps.js';
import { readModels } from './entities.js';
import { LogController } from './log.controller.js';
import { AUDIT_PROJECTION } from './projection.js';
import { observePending } from './reviews/pending-reviews.js';
import { ReviewChanges } from './reviews/review-changes.js';
import { ReviewsController } from './reviews/reviews.controller.js';

@Module({})
export class AuditModule implements OnModuleDestroy {
  constructor(@Inject(CONTEXT) private readonly context: AuditContext) {}

  static with(context: AuditContext): DynamicModule {
    return {
      module: AuditModule,
      controllers: [ReviewsController, LogController, Consumers],
      providers: [{ provide: CONTEXT, useValue: context }],
    };
  }

  async onModuleDestroy(): Promise<void> {
    this.context.unobserve();
    await this.context.changes.close();
    await this.context.readModels.destroy();
  }
}

/** The service, initialised and consuming; whoever wants a socket calls `listen`. `close()` drains it. */
export async function createAuditApp(deps: AuditDeps): Promise<NestFastifyApplication> {
  const { bus, logger, identityKey, now, ready } = deps;
  const changes = new ReviewChanges();
  const context: AuditContext = { ...deps, readModels: await readModels(deps.databaseUrl), changes, unobserve: observePending(deps.pool) };
  const app = await createServiceApp(AuditModule.with(context), {
    service: 'audit',
    identityKey,
    logger,
    now,
    ready,
  });
  await changes.open(bus);
  const { name: group, categories } = AUDIT_PROJECTION;
  app.connectMicroservice({ strategy: new EventBusServer({ bus, group, categories: [...categories], leaves: [] }) });
  await app.startAllMicroservices();
  return app;
}
