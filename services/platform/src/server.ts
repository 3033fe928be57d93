import type { Environment } from '@countersign/config';
import { Teardown, VERSION } from '@countersign/service-host';
import { createLogger, startTelemetry } from '@countersign/telemetry';
import { addressError, checkAddress, urlOf } from './address.js';
import { composeServices } from './compose.js';
import { dataConfig, isLoopback, platformConfig, shownConfig } from './config.js';
import { hasData, openDataDirectory } from './data/data-directory.js';
import { openDatabase } from './database.js';
import { ensureDemoProject, isFirstStart } from './demo/demo-project.js';
import { injected, publishDemoTemplates } from './demo/demo-templates.js';
import { IdleMemory } from './idle-memory.js';
import { migrateAll } from './schema.js';
import { stepByStep, welcome } from './welcome.js';

/** Everything in one process, answering. */
export interface RunningServer {
  url: string;
  /** Resolves with a sentence when something is gone that the server cannot do without. */
  failed: Promise<string>;
  /** Finishes what is under way, then ends everything that was started, PostgreSQL last. */
  stop(): Promise<void>;
  /** Lets go of the data directory without a word to a database that is not there any more; the process ends next. */
  abandon(): void;
}

const DATABASE_LOST = 'PostgreSQL stopped unexpectedly. Restart the server; all committed data is safe.';

/**
 * Starts everything `npm start` runs.
 * @param options.say prints a line for the person at the keyboard.
 * @param options.signal ends the start after the step it is at.
 * @throws {CannotStart | ConfigError} or the signal's reason, after undoing what had been started.
 */
export async function startServer(
  environment: Environment,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<RunningServer> {
  const { host, port: wanted, logLevel } = platformConfig(environment).server;
  const { dataDir, databaseUrl } = dataConfig(environment);
  const loopback = isLoopback(host);
  const logger = createLogger({ service: 'platform', level: logLevel, destination: process.stderr });
  const teardown = new Teardown();
  try {
    // Before a folder is made for a server that cannot listen; where there is one, whoever is in it comes first.
    if (!hasData(dataDir)) await checkAddress(host, wanted);
    const directory = await openDataDirectory(dataDir, { command: 'npm start', create: true });
    teardown.add(() => directory.lock.release());
    const port = await checkAddress(host, wanted);
    const url = urlOf(host, port);
    const own = { secretsKey: directory.secrets.secrets_key, publicUrl: url, loopback };
    const config = platformConfig(environment, own);
    logger.info({ config: shownConfig(environment, own) }, 'configuration');
    const telemetry = await startTelemetry(config.telemetry, { service: 'countersign', version: VERSION, logger });
    teardown.add(() => telemetry.stop());
    const first = isFirstStart(directory);
    if (first)
      say(`First start: creating ${databaseUrl ? 'the schemas' : 'a database'} and a demo project, with keys in ${directory.path}:`);

    const step = stepByStep(signal, first ? say : () => {});
    const database = await step('PostgreSQL', () => openDatabase({ url: databaseUrl, directory, logger }));
    teardown.add(() => database.stop());
    await step('schemas', () => migrateAll(database.ownerUrl, logger));
    const services = await step('services', () => composeServices({ ownerUrl: database.ownerUrl, config, logger, teardown }));
    const demo = await step('demo project', () =>
      ensureDemoProject(services.directory, {
        dataDir: directory.path,
        url,
        loopback,
        publish: (token) => publishDemoTemplates(injected(services.gateway), token),
      }),
    );
    signal.throwIfAborted();
    // Before anybody can ask: it stops everything for a moment.
    const memory = new IdleMemory();
    memory.start();
    teardown.add(() => memory.stop());
    await services.gateway.listen(port, host).catch((error: unknown) => {
      throw addressError(error, host, port);
    });
    directory.lock.publish({ url, database_url: database.ownerUrl });
    const place = { publicUrl: config.inbox.publicUrl, dataDir: directory.path, environment };
    for (const line of await welcome(services.directory, demo, place)) say(line);
    return {
      url,
      failed: database.lost.then(() => DATABASE_LOST),
      stop: () => {
        directory.lock.announceEnd();
        return teardown.run();
      },
      abandon: () => directory.lock.release(),
    };
  } catch (error) {
    await teardown.run().catch((later) => logger.error({ err: later }, 'shutdown was incomplete'));
    throw error;
  }
}
