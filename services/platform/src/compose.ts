import { randomBytes } from 'node:crypto';
import { createAuditApp } from '@countersign/audit';
import { CATEGORY_PREFIXES, type ServiceName, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { createDecisionsApp } from '@countersign/decisions';
import { createDirectoryApp, type DirectoryDeps, directoryStore } from '@countersign/directory';
import { createEgress } from '@countersign/egress';
import { StoreEventBus } from '@countersign/event-bus';
import { type EventStore, PostgresEventStore } from '@countersign/event-store';
import { createGatewayApp } from '@countersign/gateway';
import { checkAnswers, injectTransport, type ServiceApps, ServiceClient } from '@countersign/http';
import { createIntakeApp } from '@countersign/intake';
import { createMonitoringApp } from '@countersign/monitoring';
import type { Logger } from '@countersign/telemetry';
import { createWebhooksApp } from '@countersign/webhooks';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { PlatformConfig } from './config.js';
import type { Teardown } from './teardown.js';

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
  version: string;
  logger: Logger;
  teardown: Teardown;
}): Promise<Composed> {
  const { ownerUrl, config, version, logger, teardown } = options;
  const log = (service: ServiceName) => logger.child({ service });
  // Signed and verified within this process, so a key as old as the process is enough.
  const identityKey = randomBytes(32).toString('hex');

  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: POOL, applicationName: 'countersign platform' });
  teardown.add(() => pool.end());
  const storeOf = (writer: ServiceName): EventStore => {
    const store = new PostgresEventStore({ pool, writer, categories: CATEGORY_PREFIXES, validate: validateEvent, logger: log(writer) });
    teardown.add(() => store.close());
    return store;
  };
  const reader = storeOf('gateway');
  const bus = new StoreEventBus({ pool, store: reader, connectionString: ownerUrl, logger: logger.child({ service: 'bus' }) });
  teardown.add(() => bus.close());

  const apps: ServiceApps = {};
  const client = new ServiceClient({
    transport: injectTransport(() => apps),
    identityKey,
    check: config.server.checkAnswers ? checkAnswers() : undefined,
  });
  const { allowNetworks } = config.egress;
  const egress = createEgress({ allowNetworks });
  teardown.add(() => egress.close());
  const shared = { pool, bus, client, identityKey };

  const host = (service: ServiceName, app: NestFastifyApplication) => {
    apps[service] = app;
    teardown.add(() => app.close());
  };
  const store = directoryStore({ pool, logger: log('directory') });
  teardown.add(() => store.close());
  const directory: DirectoryDeps = { store, pool, config: config.directory, logger: log('directory') };
  host('directory', await createDirectoryApp({ ...directory, identityKey }));
  host('intake', await createIntakeApp({ ...shared, store: storeOf('intake'), egress, logger: log('intake') }));
  host('decisions', await createDecisionsApp({ ...shared, store: storeOf('decisions'), logger: log('decisions') }));
  host(
    'monitoring',
    await createMonitoringApp({ ...shared, store: storeOf('monitoring'), logger: log('monitoring'), wake: (act) => bus.onAppend(act) }),
  );
  host('audit', await createAuditApp({ ...shared, store: storeOf('audit'), databaseUrl: ownerUrl, logger: log('audit') }));
  const webhooks = await createWebhooksApp({
    ...shared,
    store: storeOf('webhooks'),
    config: { ...config.webhooks, allowNetworks },
    version,
    logger: log('webhooks'),
  });
  apps.webhooks = webhooks.app;
  teardown.add(() => webhooks.close());
  const gateway = await createGatewayApp({ config: config.gateway, client, bus, store: reader, pool, logger: log('gateway') });
  teardown.add(() => gateway.close());
  await webhooks.start();
  return { gateway, directory };
}
