import { randomBytes } from 'node:crypto';
import { AUDIT } from '@countersign/audit';
import { CATEGORY_PREFIXES, type ServiceName, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool, reachable } from '@countersign/database';
import { DECISIONS } from '@countersign/decisions';
import { DIRECTORY, type DirectoryDeps } from '@countersign/directory';
import { StoreEventBus } from '@countersign/event-bus';
import { type EventStore, PostgresEventStore } from '@countersign/event-store';
import { GATEWAY } from '@countersign/gateway';
import { checkAnswers, injectTransport, type ServiceApps, ServiceClient } from '@countersign/http';
import { INTAKE } from '@countersign/intake';
import { MONITORING } from '@countersign/monitoring';
import { DatabaseClock, type HostedService, type ServiceParts, type Teardown, VERSION } from '@countersign/service-host';
import type { Logger } from '@countersign/telemetry';
import { WEBHOOKS } from '@countersign/webhooks';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { PlatformConfig } from './config.js';

/** More than twice the consumer groups, as the bus asks, and enough for the requests beside them. */
const POOL = 32;

/** The services of one process, and what an operator's work in the same process needs. */
export interface Composed {
  /** Ready to be listened with. */
  gateway: NestFastifyApplication;
  /** The directory's commands without HTTP. */
  directory: DirectoryDeps;
}

/**
 * Makes every service in this process. They share a pool and a bus, each has a store of its own as the writer it is, and they talk through
 * the typed client over function calls (K17); no socket is opened but the gateway's, by the caller.
 * @param options.teardown gets what ends them: the gateway first, so that nothing new comes in while what is under way finishes.
 */
export async function composeServices(options: {
  ownerUrl: string;
  config: PlatformConfig;
  logger: Logger;
  teardown: Teardown;
}): Promise<Composed> {
  const { ownerUrl, config, logger, teardown } = options;
  const log = (service: ServiceName) => logger.child({ service });
  // Signed and verified within this process, so a key as old as the process is enough.
  const identityKey = randomBytes(32).toString('hex');

  const pool = createPool({
    connectionString: ownerUrl,
    role: APP_ROLE,
    max: POOL,
    applicationName: 'countersign platform',
    serving: true,
  });
  teardown.add(() => pool.end());
  const clock = new DatabaseClock(pool, logger);
  await clock.start();
  teardown.add(() => clock.stop());
  const storeOf = (writer: ServiceName): EventStore => {
    const store = new PostgresEventStore({ pool, writer, categories: CATEGORY_PREFIXES, validate: validateEvent, logger: log(writer) });
    teardown.add(() => store.close());
    return store;
  };
  const bus = new StoreEventBus({ pool, store: storeOf('gateway'), connectionString: ownerUrl, logger: logger.child({ service: 'bus' }) });
  teardown.add(() => bus.close());

  const apps: ServiceApps = {};
  const client = new ServiceClient({
    transport: injectTransport(() => apps),
    identityKey,
    now: clock.now,
    check: config.server.checkAnswers ? checkAnswers() : undefined,
  });
  const partsOf = (service: ServiceName): ServiceParts => ({
    pool,
    store: storeOf(service),
    bus,
    client,
    identityKey,
    now: clock.now,
    ready: async () => ({ database: await reachable(pool), bus: { ...bus.health(), required: false } }),
    databaseUrl: ownerUrl,
    logger: log(service),
    version: VERSION,
    mode: 'all-in-one',
  });
  const starts: HostedService[] = [];
  const host = async (service: ServiceName, hosted: Promise<HostedService>): Promise<NestFastifyApplication> => {
    const made = await hosted;
    apps[service] = made.app;
    teardown.add(() => made.close());
    starts.push(made);
    return made.app;
  };
  const directoryParts = partsOf('directory');
  await host('directory', DIRECTORY.create(directoryParts, config));
  await host('intake', INTAKE.create(partsOf('intake'), config));
  await host('decisions', DECISIONS.create(partsOf('decisions'), config));
  await host('monitoring', MONITORING.create(partsOf('monitoring'), config));
  await host('audit', AUDIT.create(partsOf('audit'), config));
  await host('webhooks', WEBHOOKS.create(partsOf('webhooks'), config));
  const gateway = await host('gateway', GATEWAY.create(partsOf('gateway'), config));
  for (const service of starts) await service.start?.();
  return { gateway, directory: { ...directoryParts, config: { ...config.directory, ...config.inbox } } };
}
