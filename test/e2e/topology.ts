/**
 * The running product, as the scenarios meet it: an address, credentials, and a clock that can be set forward. Nothing here says how many
 * processes it is made of; another way to run it is another implementation of this interface.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '@countersign/database';
import {
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  serviceProcesses,
  spawnServer,
  spawnServices,
  stopLeftovers,
  until,
} from '@countersign/platform/fixture';
import pg from 'pg';
import { Balancer } from './balancer.js';

export interface Credentials {
  url: string;
  project_id: string;
  api_key: string;
  webhook_secret: string;
  reviewer: { email: string; password: string };
}

export interface Topology {
  readonly credentials: Credentials;
  /** Kills what decides, at once and without warning, and starts it again. @returns the name and pid of each process it killed. */
  killAndRestart(): Promise<string[]>;
  /** Makes the database's time go forward (K8). */
  advanceClock(seconds: number): Promise<void>;
  /** Runs a command of the operators' CLI. @returns its JSON answer. */
  operate<T>(...command: string[]): Promise<T>;
  /** Asks the database, as its owner. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** The processes it is made of now, and what they have logged since they started. */
  inspect(): { pids: number[]; log: string };
  stop(): Promise<void>;
}

/** `npm start`: everything in one process, over an embedded PostgreSQL. `settings`: of its environment. */
export const startAllInOne = (settings: Record<string, string> = {}, dataDir?: string): Promise<Topology> =>
  start(spawnServer, settings, {
    dataDir,
    async kill({ program, url }, again) {
      await program.stop('SIGKILL');
      const next = await again();
      await ready(url);
      return { program: next, killed: [`all in one, pid ${program.child.pid}`] };
    },
  });

/** `npm run start:services`: a process for each service, over an embedded PostgreSQL and a local Kafka. */
export const startServices = (settings: Record<string, string> = {}, dataDir?: string): Promise<Topology> =>
  start(spawnServices, settings, {
    dataDir,
    async kill({ program, url }) {
      const killed = await serviceProcesses(program);
      for (const pid of killed.keys()) process.kill(pid, 'SIGKILL');
      await until('every service to be started again', async () => {
        const running = await serviceProcesses(program);
        return running.size === killed.size && [...running.keys()].every((pid) => !killed.has(pid));
      });
      await ready(url);
      return { program, killed: [...killed].map(([pid, { service }]) => `${service}, pid ${pid}`) };
    },
  });

/** Two processes of each service, the gateways behind a balancer. `killAndRestart` kills one of them at random and does not wait until it is back. */
export interface ReplicatedTopology extends Topology {
  /** Its processes by pid, once each of them is ready. */
  processes(): Promise<Map<number, { service: string; port: number }>>;
  /** Those that run now. */
  running(): Promise<Map<number, { service: string; port: number }>>;
}

const SERVICES = 7;

export async function startReplicas(settings: Record<string, string> = {}, dataDir?: string): Promise<ReplicatedTopology> {
  let running: SpawnedProgram | null = null;
  const processes = (program: SpawnedProgram) =>
    until('two processes of each service to be ready', async () => {
      const found = await serviceProcesses(program);
      if (found.size < 2 * SERVICES) return null;
      const answers = await Promise.all([...found.values()].map(({ port }) => isReady(`http://127.0.0.1:${port}`)));
      return answers.every(Boolean) && found;
    });
  const topology = await start(
    (folder, env) => {
      running = spawnServices(folder, { REPLICAS: '2', ...env });
      return running;
    },
    settings,
    {
      dataDir,
      async kill({ program }) {
        const all = [...(await processes(program))];
        const [pid, { service, port }] = all[randomInt(all.length)] as (typeof all)[number];
        process.kill(pid, 'SIGKILL');
        // Its sockets are closed last; a request that is on one of them is the subject of other tests.
        await until('its port to be closed', () => isClosed(port));
        return { program, killed: [`${service} on port ${port}, pid ${pid}`] };
      },
    },
  );
  return orElse(topology.stop, async () => {
    const gateways = [...(await processes(running as unknown as SpawnedProgram)).values()].filter(({ service }) => service === 'gateway');
    const balancer = new Balancer(gateways.map(({ port }) => `http://127.0.0.1:${port}`));
    return {
      ...topology,
      credentials: { ...topology.credentials, url: await balancer.listen() },
      processes: () => processes(running as unknown as SpawnedProgram),
      running: () => serviceProcesses(running as unknown as SpawnedProgram),
      async stop() {
        await balancer.close();
        await topology.stop();
      },
    };
  });
}

/** What `work` gives; undoes what had been begun where it fails, since nobody is given anything to stop. */
async function orElse<T>(undo: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await undo();
    throw error;
  }
}

const isClosed = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const closed = await once(socket, 'connect').then(
    () => false,
    () => true,
  );
  socket.destroy();
  return closed;
};

const isReady = async (url: string): Promise<boolean> => {
  const answer = await fetch(`${url}/health/ready`).catch(() => null);
  const body = (await answer?.json().catch(() => null)) as { status?: string } | null | undefined;
  return answer?.status === 200 && body?.status === 'ready';
};

const ready = (url: string) => until('the server to be ready', () => isReady(url));

interface Manner {
  /** Where the data is; a folder of its own when not given, which goes with it. */
  dataDir?: string | undefined;
  /** @returns the program that runs afterwards, and the name and pid of each process that was killed. */
  kill(
    running: { program: SpawnedProgram; url: string },
    again: () => Promise<SpawnedProgram>,
  ): Promise<{ program: SpawnedProgram; killed: string[] }>;
}

export async function start(spawn: typeof spawnServer, settings: Record<string, string>, manner: Manner): Promise<Topology> {
  const folder = scratchFolder();
  const dataDir = manner.dataDir ?? join(folder.path, 'data');
  const [port] = (await freePorts(1)).map(String) as [string];
  const programs: SpawnedProgram[] = [];
  const file = join(dataDir, 'credentials.json');
  const lock = () => JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { pid: number; database_url?: string };

  async function begin(): Promise<SpawnedProgram> {
    const program = spawn(dataDir, { PORT: port, LOG_LEVEL: 'warn', ...settings });
    programs.push(program);
    await program.printed(/is ready at/);
    await until('its address to be published', () => existsSync(file) && lock().pid === program.child.pid && lock().database_url);
    return program;
  }
  async function stop(): Promise<void> {
    await stopLeftovers(dataDir, programs);
    folder.remove();
  }
  const begun = await orElse(stop, async () => {
    if (!existsSync(dataDir)) await prepareData(dataDir);
    return { program: await begin(), credentials: JSON.parse(readFileSync(file, 'utf8')) as Credentials };
  });
  const { credentials } = begun;
  let { program } = begun;

  const database = asOwner(() => lock().database_url);

  return {
    credentials,
    async killAndRestart() {
      const { program: next, killed } = await manner.kill({ program, url: credentials.url }, begin);
      program = next;
      return killed;
    },
    ...database,
    async operate<T>(...command: string[]) {
      const { code, stdout, stderr } = await runCli(dataDir, ...command, '--json');
      if (code !== 0) throw new Error(`countersign ${command.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    inspect() {
      return { pids: [program.child.pid as number], log: program.stderr };
    },
    async stop() {
      await program.stop();
      await stop();
    },
  };
}

/** Asks a database as the owner of its schemas, over a connection for each question, wherever it is by then. */
export function asOwner(url: () => string | undefined): Pick<Topology, 'query' | 'advanceClock'> {
  const query = async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]> => {
    const owner = new pg.Client({ connectionString: url() });
    // Where the database is killed the query says so; the connection's own word is one too many.
    owner.on('error', () => {});
    await owner.connect();
    try {
      return (await owner.query<Row>(sql, values)).rows;
    } finally {
      await owner.end();
    }
  };
  return {
    query,
    async advanceClock(seconds) {
      await query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [seconds]);
    },
  };
}
