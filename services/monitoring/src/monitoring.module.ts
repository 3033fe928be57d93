import { CATEGORY_PREFIXES } from '@countersign/contracts';
import type { EventStore } from '@countersign/event-store';
import { createServiceApp, type ReadyCheck } from '@countersign/http';
import { TIMERS } from '@countersign/review';
import type { Logger } from '@countersign/telemetry';
import { TimerLoop, type TimerLoopOptions } from '@countersign/timers';
import { type DynamicModule, Inject, Module, type OnModuleDestroy } from '@nestjs/common';

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';
import { fireTimer } from './fire-timer.js';

/** What the service works with. */
export interface MonitoringDeps {
  /** As writer `monitoring`. */
  store: EventStore;
  /** Connections under the application's role. */
  pool: Pool;
  logger: Logger;
  identityKey: string;
  now?: () => number;
  ready: () => Promise<Record<string, ReadyCheck>>;
  /** Calls back when something may have been scheduled. */
  wake?: TimerLoopOptions['wake'];
}

const LOOP = Symbol('TimerLoop');

@Module({})
export class MonitoringModule implements OnModuleDestroy {
  constructor(@Inject(LOOP) private readonly loop: TimerLoop) {}

  static with(loop: TimerLoop): DynamicModule {
    return { module: MonitoringModule, providers: [{ provide: LOOP, useValue: loop }] };
  }

  /** Lets what is firing finish. */
  async onModuleDestroy(): Promise<void> {
    await this.loop.close();
  }
}

/** The service, initialised and firing what falls due. It has no public routes; `close()` drains it. */
export async function createMonitoringApp(deps: MonitoringDeps): Promise<NestFastifyApplication> {
  const { store, pool, logger, identityKey, wake, now, ready } = deps;
  const loop = new TimerLoop({
    pool,
    categories: { review: CATEGORY_PREFIXES.review },
    kinds: TIMERS,
    onDue: (timer) => fireTimer(store, timer),
    logger,
    wake,
  });
  const app = await createServiceApp(MonitoringModule.with(loop), {
    service: 'monitoring',
    identityKey,
    logger,
    now,
    ready,
  });
  loop.start();
  return app;
}
