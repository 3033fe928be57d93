/**
 * Two processes of each service, over a PostgreSQL and a Kafka of their own. Services are started again by their program; the two below them here,
 * as whoever runs them would.
 */
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@countersign/database';
import { startLocalKafka } from '@countersign/local-kafka';
import { isRunning, prepareData, scratchFolder, signalPostgres, until } from '@countersign/platform/fixture';
import { Server } from '../../e2e/server.js';
import { startReplicas } from '../../e2e/topology.js';
import type { Chance } from '../../model/world/chance.js';
import { Traffic } from '../traffic/traffic.js';
import { connectedFrom } from './connected.js';
import type { Stage } from './stage.js';

const SERVICES = ['gateway', 'directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit'];
/** Answers the callers get while there is no broker. */
const WITHOUT_BROKER = 40;

export async function separateServices(): Promise<Stage> {
  const folder = scratchFolder();
  const dataDir = join(folder.path, 'data');
  await prepareData(dataDir);
  const postgres = join(dataDir, 'postgres');
  let database = await startEmbeddedPostgres({ dataDir: postgres });
  const { port } = new URL(database.url);
  const kafka = await startLocalKafka({ dataDir: join(dataDir, 'kafka') });
  const topology = await startReplicas({ DATABASE_URL: database.url, KAFKA_BROKERS: kafka.brokers }, dataDir);
  const server = await Server.start(topology);
  await Traffic.prepare(server);

  async function killPid(pid: number): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await until('it to be gone', () => !isRunning(pid));
  }
  async function killService(service: string, chance: Chance): Promise<string[]> {
    const running = await until(`a ${service} to run`, async () => {
      const found = [...(await topology.running())].filter(([, one]) => one.service === service);
      return found.length > 0 && found;
    });
    await killPid(chance.pick(running)[0]);
    return [service];
  }
  /** Whoever publishes to Kafka right now. */
  async function killRelay(): Promise<string[]> {
    const pid = await until('somebody to hold the relay', async () => {
      const [held] = await topology.query<{ port: number }>(
        `select a.client_port as port from event_bus.relays r
           join pg_locks l on l.locktype = 'advisory' and l.classid = event_bus.session_class()::oid and l.objid = r.session::oid and l.granted
           join pg_stat_activity a on a.pid = l.pid
          where r.lease_until > clock_timestamp()`,
      );
      return held && connectedFrom(held.port, [...(await topology.running()).keys()]);
    });
    await killPid(pid);
    return ['relay holder'];
  }
  return {
    name: 'as separate services',
    server,
    severalAtOnce: true,
    victims: [
      ...SERVICES.map((service) => ({ weight: 3, kill: (chance: Chance) => killService(service, chance) })),
      { weight: 3, kill: killRelay },
      {
        weight: 5,
        async kill() {
          signalPostgres(dataDir, 'SIGKILL');
          await database.exited;
          database = await startEmbeddedPostgres({ dataDir: postgres, settings: { port } });
          return ['PostgreSQL'];
        },
      },
      {
        weight: 1,
        async kill(_, traffic) {
          await kafka.kill();
          await traffic.recorder.moves(WITHOUT_BROKER);
          await kafka.start();
          return ['Kafka'];
        },
      },
    ],
    async whole() {
      await topology.processes();
    },
    async stop() {
      await server.stop();
      await kafka.stop();
      await database.stop();
      folder.remove();
    },
  };
}
