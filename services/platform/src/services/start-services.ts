/**
 * `npm run start:services`: the services as processes of their own, over a local PostgreSQL and a local Kafka, on the same data directory,
 * port and credentials as `npm start`.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Environment } from '@countersign/config';
import type { ServiceName } from '@countersign/contracts';
import { APP_ROLE, createPool, freePorts } from '@countersign/database';
import { type DirectoryDeps, directoryStore } from '@countersign/directory';
import { type LocalKafka, LocalKafkaError, startLocalKafka } from '@countersign/local-kafka';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { checkAddress, urlOf } from '../address.js';
import { CannotStart } from '../cannot-start.js';
import { dataConfig, isLoopback, platformConfig } from '../config.js';
import { hasData, openDataDirectory } from '../data/data-directory.js';
import { openDatabase } from '../database.js';
import { ensureDemoProject, isFirstStart } from '../demo/demo-project.js';
import { publishDemoTemplates, sent } from '../demo/demo-templates.js';
import { migrateAll } from '../schema.js';
import type { RunningServer } from '../server.js';
import { stepByStep, welcome } from '../welcome.js';
import { thrifty } from './memory.js';
import { ServiceProcess } from './process.js';
import { servicesConfig } from './settings.js';

const BEHIND: readonly Exclude<ServiceName, 'gateway'>[] = ['directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit'];
const PATIENCE_MS = 12_000;
const READY_MS = 120_000;

const program = (service: ServiceName): string => fileURLToPath(new URL(`../../../${service}/dist/main.js`, import.meta.url));

interface Voice {
  /** Prints a line for the person at the keyboard. */
  say: (line: string) => void;
  /** Takes a line of a service's log. */
  log: (line: string) => void;
  /** Ends the start after the step it is at. */
  signal: AbortSignal;
}

/** @throws {CannotStart | ConfigError} or the signal's reason, after undoing what had been started. */
export async function startServices(environment: Environment, { say, log, signal }: Voice): Promise<RunningServer> {
  const { host, port: wanted, logLevel } = platformConfig(environment).server;
  const { replicas, brokers } = servicesConfig(environment);
  const { dataDir, databaseUrl } = dataConfig(environment);
  const loopback = isLoopback(host);
  const logger = createLogger({ service: 'platform', level: logLevel, destination: process.stderr });
  const teardown = new Teardown();
  try {
    if (!hasData(dataDir)) await checkAddress(host, wanted);
    const data = await openDataDirectory(dataDir, { command: 'npm run start:services', create: true });
    teardown.add(() => data.lock.release());
    const port = await checkAddress(host, wanted);
    const url = urlOf(host, port);
    const config = platformConfig(environment, { secretsKey: data.secrets.secrets_key, publicUrl: url, loopback });

    isFirstStart(data);
    say(`Starting PostgreSQL, Kafka and the services, with data in ${data.path}:`);
    const step = stepByStep(signal, say);
    const database = await step('PostgreSQL', () => openDatabase({ url: databaseUrl, directory: data, logger }));
    teardown.add(() => database.stop());
    await step('schemas', () => migrateAll(database.ownerUrl, logger));
    const kafka = brokers ? null : await step('Kafka', () => localKafka(join(data.path, 'kafka')));
    if (kafka) teardown.add(() => kafka.stop());

    const pool = createPool({ connectionString: database.ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign platform' });
    teardown.add(() => pool.end());
    const store = directoryStore({ pool, logger });
    teardown.add(() => store.close());
    const directory: DirectoryDeps = { store, pool, config: { ...config.directory, ...config.inbox }, logger };

    const shared = {
      ...thrifty(set(environment)),
      // A terminal wants less than a log.
      LOG_LEVEL: logLevel,
      DATABASE_URL: database.ownerUrl,
      KAFKA_BROKERS: brokers?.join(',') ?? (kafka as { brokers: string }).brokers,
      IDENTITY_KEY: randomBytes(32).toString('hex'),
      SECRETS_KEY: config.directory.secretsKey,
      PUBLIC_URL: config.inbox.publicUrl,
      ...(config.egress.allowNetworks.length > 0 ? { WEBHOOK_ALLOW_NETWORKS: config.egress.allowNetworks.join(',') } : {}),
    };
    const addresses: Record<string, string> = {};
    const ports = new Map<ServiceName, number[]>();
    const unused = await freePorts(BEHIND.length * replicas);
    for (const service of BEHIND) {
      const free = unused.splice(0, replicas);
      ports.set(service, free);
      addresses[`${service.toUpperCase()}_URL`] = free.map((one) => `http://127.0.0.1:${one}`).join(',');
    }
    ports.set(
      'gateway',
      Array.from({ length: replicas }, (_, replica) => port + replica),
    );
    const processes: { process: ServiceProcess; url: string }[] = [];
    for (const [service, own] of ports) {
      for (const [replica, listen] of own.entries()) {
        const name = replicas === 1 ? service : `${service}-${replica + 1}`;
        const env = { ...shared, ...addresses, HOST: service === 'gateway' ? host : '127.0.0.1', PORT: String(listen) };
        processes.push({
          process: new ServiceProcess({ name, program: program(service), env, print: log, patience: PATIENCE_MS }),
          url: urlOf(env.HOST, listen),
        });
      }
    }
    signal.throwIfAborted();
    say(`  starting ${processes.map(({ process }) => process.name).join(', ')}`);
    for (const { process } of processes) process.start();
    // All at once: each drains for itself.
    teardown.add(() => Promise.all(processes.map(({ process }) => process.stop())));
    const refused = Promise.race(processes.map(({ process }) => process.refused)).then((words) => {
      throw new CannotStart(words);
    });
    await Promise.race([
      refused,
      Promise.all(processes.map(({ process, url }) => step(`${process.name} ready`, () => ready(url, signal)))),
    ]);

    const demo = await step('demo project', () =>
      ensureDemoProject(directory, {
        dataDir: data.path,
        url,
        loopback,
        publish: (token) => publishDemoTemplates(sent(url), token),
      }),
    );
    signal.throwIfAborted();
    data.lock.publish({ url, database_url: database.ownerUrl });
    for (const line of await welcome(directory, demo, { publicUrl: config.inbox.publicUrl, dataDir: data.path, environment })) say(line);
    return {
      url,
      failed: database.lost.then(() => 'PostgreSQL stopped unexpectedly. Start again; everything that was committed is there.'),
      stop: () => {
        data.lock.announceEnd();
        return teardown.run();
      },
      abandon: () => data.lock.release(),
    };
  } catch (error) {
    await teardown.run().catch((later) => logger.error({ err: later }, 'not everything could be stopped'));
    throw error;
  }
}

async function localKafka(dataDir: string): Promise<LocalKafka> {
  try {
    return await startLocalKafka({ dataDir, ownGroup: true });
  } catch (error) {
    if (error instanceof LocalKafkaError) throw new CannotStart(error.message, { cause: error });
    throw error;
  }
}

async function ready(url: string, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
    signal.throwIfAborted();
    const answer = await fetch(`${url}/health/ready`).catch(() => null);
    const body = (await answer?.json().catch(() => null)) as { status?: string } | null | undefined;
    if (answer?.status === 200 && body?.status === 'ready') return;
    if (Date.now() > deadline) throw new Error(`The service at ${url} was not ready within ${READY_MS / 1_000} s: ${JSON.stringify(body)}`);
  }
}

const set = (environment: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
