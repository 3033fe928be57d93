import { createServiceApp } from '@countersign/http';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { passwordLanes } from './credentials/turnstile.js';
import { DEPS, type DirectoryAppDeps } from './deps.js';
import { keepHouse } from './housekeeping.js';
import { AuthController } from './http/auth.controller.js';
import { InternalController } from './http/internal.controller.js';
import { SettingsController } from './http/settings.controller.js';
import { TeamController } from './http/team.controller.js';
import { catchUpAll } from './lookups/catch-up.js';

@Module({})
export class DirectoryModule {}

const directoryModule = (deps: DirectoryAppDeps): DynamicModule => ({
  module: DirectoryModule,
  controllers: [AuthController, SettingsController, TeamController, InternalController],
  providers: [{ provide: DEPS, useValue: deps }],
});

/**
 * The service, initialised and caught up with its streams; whoever wants a socket calls `listen`. `close()` ends its housekeeping too.
 */
export async function createDirectoryApp(deps: DirectoryAppDeps): Promise<NestFastifyApplication> {
  const { identityKey, logger, now, ready } = deps;
  const behind = await catchUpAll(deps);
  if (behind > 0) logger.info({ streams: behind }, 'updated lookup tables that were behind the event log');
  const app = await createServiceApp(directoryModule({ lanes: passwordLanes(), ...deps }), {
    service: 'directory',
    identityKey,
    logger,
    now,
    ready,
  });
  const house = keepHouse(deps);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onClose', () => house.close());
  return app;
}
