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
import { startLocalKafka } from '@countersign/local-kafka';
import { Teardown } from '@countersign/service-host';
import { createLogger } from '@countersign/telemetry';
import { checkAddress, urlOf } from '../address.js';
import { dataConfig, isLoopback, platformConfig } from '../config.js';
import { openDataDirectory } from '../data/data-directory.js';
import { openDatabase } from '../database.js';
import { ensureDemoProject } from '../demo-project.js';
import { publishDemoTemplates, sent } from '../demo-templates.js';
import { migrateAll } from '../schema.js';
import type { RunningServer } from '../server.js';
import { welcome } from '../welcome.js';
import { thrifty } from './memory.js';
import { ServiceProcess } from './process.js';
import { servicesConfig } from './settings.js';

const BEHIND: readonly Exclude<ServiceName, 'gateway'>[] = ['directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit'];
const PATIENCE_MS = 12_000;
const READY_MS = 120_000;

const program = (service: ServiceName): string => fileURLToPath(new URL(`../../../${service}/dist/main.js`, import.meta.url));

/** @throws {CannotStart | ConfigError | LocalKafkaError} after undoing what had been started. */
export async function startServices(
  environment: Environment,
  say: (line: string) => void,
  log: (line: string) => void,
): Promise<RunningServer> {
  const { host, port: wanted, logLevel } = platformConfig(environment).server;
  const { replicas, brokers } = servicesConfig(environment);
  const { dataDir, databaseUrl } = dataConfig(environment);
  const loopback = isLoopback(host);
  const logger = createLogger({ service: 'platform', level: logLevel, destination: process.stderr });
  const teardown = new Teardown();
  try {
    const data = await openDataDirectory(dataDir, { command: 'npm run start:services', create: true });
    teardown.add(() => data.lock.release());
    const port = await checkAddress(host, wanted);
    const url = urlOf(host, port);
    const config = platformConfig(environment, { secretsKey: data.secrets.secrets_key, publicUrl: url, loopback });

    say('Starting PostgreSQL, Kafka and the services …');
    const database = await openDatabase({ url: databaseUrl, directory: data, logger });
    teardown.add(() => database.stop());
    await migrateAll(database.ownerUrl, logger);
    const kafka = brokers ? null : await startLocalKafka({ dataDir: join(data.path, 'kafka') });
    if (kafka) teardown.add(() => kafka.stop());

    const pool = createPool({ connectionString: database.ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign platform' });
    teardown.add(() => pool.end());
    const store = directoryStore({ pool, logger });
    teardown.add(() => store.close());
    const directory: DirectoryDeps = { store, pool, config: config.directory, logger };

    const shared = {
      ...thrifty(set(environment)),
      DATABASE_URL: database.ownerUrl,
      KAFKA_BROKERS: brokers?.join(',') ?? (kafka as { brokers: string }).brokers,
      IDENTITY_KEY: randomBytes(32).toString('hex'),
      SECRETS_KEY: config.directory.secretsKey,
      PUBLIC_URL: config.directory.publicUrl,
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
    const processes: ServiceProcess[] = [];
    for (const [service, own] of ports) {
      for (const [replica, listen] of own.entries()) {
        const name = replicas === 1 ? service : `${service}-${replica + 1}`;
        const env = { ...shared, ...addresses, HOST: service === 'gateway' ? host : '127.0.0.1', PORT: String(listen) };
        processes.push(new ServiceProcess({ name, program: program(service), env, print: log, patience: PATIENCE_MS }));
      }
    }
    for (const process of processes) process.start();
    // All at once: each drains for itself.
    teardown.add(() => Promise.all(processes.map((process) => process.stop())));
    await ready(url);

    const demo = await ensureDemoProject(directory, {
      dataDir: data.path,
      url,
      loopback,
      publish: (token) => publishDemoTemplates(sent(url), token),
    });
    data.lock.publish({ url, database_url: database.ownerUrl });
    for (const line of await welcome(directory, demo, { publicUrl: config.directory.publicUrl, dataDir: data.path, environment }))
      say(line);
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

async function ready(url: string): Promise<void> {
  for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
    const answer = await fetch(`${url}/health/ready`).catch(() => null);
    const body = (await answer?.json().catch(() => null)) as { status?: string } | null | undefined;
    if (answer?.status === 200 && body?.status === 'ready') return;
    if (Date.now() > deadline) throw new Error(`The services were not ready within ${READY_MS / 1_000} s: ${JSON.stringify(body)}`);
  }
}

const set = (environment: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined));
