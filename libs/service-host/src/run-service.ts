/**
 * One service as a process of its own: reads its settings, makes what it is given, listens, and ends in order.
 *
 * H1 Told to stop (SIGTERM, SIGINT), it first says that it is not ready and goes on serving while others notice; then it finishes what is
 *    under way, hands its leases over, and exits within ten seconds.
 * H2 A database that is not there yet, or that somebody migrates, is waited for; one that is too old or too new for this program ends the
 *    process with one sentence.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConfigError,
  type ConfigOfGroups,
  type Environment,
  environment,
  loadConfig,
  redactedConfig,
  type SettingGroups,
} from '@countersign/config';
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool, hasMigrations, MigrationError, type MigrationSet, reachable } from '@countersign/database';
import { EVENT_BUS_MIGRATIONS, KafkaRefusedError } from '@countersign/event-bus';
import { EVENT_STORE_MIGRATIONS, PostgresEventStore } from '@countersign/event-store';
import { checkAnswers, httpTransport, ServiceClient } from '@countersign/http';
import { createLogger, type Logger, startTelemetry, TELEMETRY_SETTINGS } from '@countersign/telemetry';
import type { Pool } from 'pg';
import { createEventBus } from './create-bus.js';
import { DatabaseClock } from './database-clock.js';
import type { ServiceDefinition } from './definition.js';
import { ADDRESS_SETTINGS, DATABASE_SETTINGS, HOST_SETTINGS, KAFKA_SETTINGS } from './settings.js';
import { Teardown } from './teardown.js';
import { VERSION } from './version.js';

const HARD_LIMIT_MS = 10_000;
const MIGRATION_POLL_MS = 500;

/** Every setting of a service's own process, group by group. */
const hostGroups = <Groups extends SettingGroups>(definition: ServiceDefinition<Groups>) => ({
  host: HOST_SETTINGS,
  database: DATABASE_SETTINGS,
  kafka: KAFKA_SETTINGS,
  addresses: ADDRESS_SETTINGS,
  telemetry: TELEMETRY_SETTINGS,
  ...definition.settings,
});

/** The exit code of a process whose settings are wrong (sysexits' EX_CONFIG): starting it again as it is would change nothing. */
export const MISCONFIGURED = 78;

/** Starts a service and lives as long as it does. The exit code is 0 when it was told to stop and could finish, {@link MISCONFIGURED}, or else 1. */
export function runService<Groups extends SettingGroups>(
  definition: ServiceDefinition<Groups>,
  settings: Environment = environment(),
): void {
  const teardown = new Teardown();
  const state = { draining: false };
  let stopping = false;
  const starting = startService(definition, settings, teardown, state);
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), HARD_LIMIT_MS).unref();
    try {
      const { drain } = await starting;
      state.draining = true;
      await sleep(drain);
      await teardown.run();
    } catch (error) {
      tell(error);
    }
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
  // Whoever started it with a channel is gone. Without one, under an orchestrator, the parent is nobody whose end would mean anything.
  process.on('disconnect', () => void stop());
  starting.catch(async (error) => {
    if (stopping) return;
    tell(error);
    await teardown.run().catch(() => {});
    process.exit();
  });
}

async function startService<Groups extends SettingGroups>(
  definition: ServiceDefinition<Groups>,
  settings: Environment,
  teardown: Teardown,
  state: { draining: boolean },
): Promise<{ drain: number }> {
  const groups = hostGroups(definition);
  const config = loadConfig(groups, settings) as ConfigOfGroups<ReturnType<typeof hostGroups>> & ConfigOfGroups<Groups>;
  const { host, database, kafka, addresses } = config;
  const { name } = definition;
  const logger = createLogger({ service: name, level: host.logLevel, destination: process.stderr });
  logger.info({ configuration: redactedConfig(groups, settings) }, 'starting');
  const telemetry = await startTelemetry(config.telemetry, { service: `countersign-${name}`, version: VERSION, logger });
  teardown.add(() => telemetry.stop());

  const pool = createPool({
    connectionString: database.url,
    role: APP_ROLE,
    max: database.pool,
    applicationName: `countersign ${name}`,
    serving: true,
  });
  teardown.add(() => pool.end());
  await awaitDatabase(pool, [EVENT_STORE_MIGRATIONS, EVENT_BUS_MIGRATIONS, ...definition.migrations], logger);
  const clock = new DatabaseClock(pool, logger);
  await clock.start();
  teardown.add(() => clock.stop());
  const store = new PostgresEventStore({ pool, writer: name, categories: CATEGORY_PREFIXES, validate: validateEvent, logger });
  teardown.add(() => store.close());
  const clientId = `${name}@${hostname()}:${process.pid}`;
  const bus = createEventBus({ pool, store, connectionString: database.url, logger }, kafka, { clientId, prefixes: CATEGORY_PREFIXES });
  teardown.add(() => bus.close());
  const transport = httpTransport(addresses);
  const client = new ServiceClient({
    transport,
    identityKey: host.identityKey,
    now: clock.now,
    check: host.checkAnswers ? checkAnswers() : undefined,
  });
  teardown.add(() => client.close());

  const service = await definition.create(
    {
      pool,
      store,
      bus,
      client,
      identityKey: host.identityKey,
      now: clock.now,
      databaseUrl: database.url,
      logger,
      version: VERSION,
      mode: 'services',
      ready: async () => ({
        database: await reachable(pool),
        bus: { ...bus.health(), required: false },
        process: state.draining ? { ok: false, detail: 'Stopping.' } : { ok: true },
      }),
    },
    config,
  );
  teardown.add(() => service.close());
  // While nobody waits yet: what starting used and running does not need goes back to the system, 15 MB of it.
  globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
  const address = await service.app.listen(host.port, host.host).then(() => service.app.getUrl());
  await service.start?.();
  logger.info({ address }, 'ready');
  return { drain: host.drain };
}

/** H2. */
async function awaitDatabase(pool: Pool, sets: readonly MigrationSet[], logger: Logger): Promise<void> {
  const usable = async () => (await reachable(pool)).ok && hasMigrations(pool, sets, { warn: (message) => logger.warn(message) });
  for (let told = false; !(await usable()); told = true) {
    if (!told) logger.warn('the database does not answer or is not migrated yet: waiting');
    await sleep(MIGRATION_POLL_MS);
  }
}

function tell(error: unknown): void {
  const message =
    error instanceof ConfigError || error instanceof KafkaRefusedError || error instanceof MigrationError
      ? error.message
      : error instanceof Error
        ? error.stack
        : String(error);
  process.stderr.write(`${message}\n`);
  process.exitCode = error instanceof ConfigError ? MISCONFIGURED : 1;
}
