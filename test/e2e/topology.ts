/**
 * The running product, as the scenarios meet it: an address, credentials, and a clock that can be set forward. Nothing here says how many
 * processes it is made of; another way to run it is another implementation of this interface.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runCli, type SpawnedProgram, scratchFolder, spawnServer, stopLeftovers, until } from '@countersign/platform/fixture';
import pg from 'pg';

export interface Credentials {
  url: string;
  project_id: string;
  api_key: string;
  webhook_secret: string;
  reviewer: { email: string; password: string };
}

export interface Topology {
  readonly credentials: Credentials;
  /** Kills what decides, at once and without warning, and starts it again. */
  killAndRestart(): Promise<void>;
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
export async function startAllInOne(settings: Record<string, string> = {}): Promise<Topology> {
  const folder = scratchFolder();
  const dataDir = join(folder.path, 'data');
  const port = String(await freePort());
  const programs: SpawnedProgram[] = [];
  const file = join(dataDir, 'credentials.json');
  const lock = () => JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { pid: number; database_url?: string };

  async function start(): Promise<void> {
    const program = spawnServer(dataDir, { PORT: port, LOG_LEVEL: 'warn', ...settings });
    programs.push(program);
    await program.printed(/is ready at/);
    await until('its address to be published', () => existsSync(file) && lock().pid === program.child.pid && lock().database_url);
  }
  await start();

  async function query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]> {
    const owner = new pg.Client({ connectionString: lock().database_url });
    await owner.connect();
    try {
      return (await owner.query<Row>(sql, values)).rows;
    } finally {
      await owner.end();
    }
  }

  return {
    credentials: JSON.parse(readFileSync(file, 'utf8')) as Credentials,
    async killAndRestart() {
      await programs.at(-1)?.stop('SIGKILL');
      await start();
    },
    async advanceClock(seconds) {
      await query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [seconds]);
    },
    async operate<T>(...command: string[]) {
      const { code, stdout, stderr } = await runCli(dataDir, ...command, '--json');
      if (code !== 0) throw new Error(`countersign ${command.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    query,
    inspect() {
      const program = programs.at(-1) as SpawnedProgram;
      return { pids: [program.child.pid as number], log: program.stderr };
    },
    async stop() {
      await programs.at(-1)?.stop();
      await stopLeftovers(dataDir, programs);
      folder.remove();
    },
  };
}

/** A port nobody has, below those the system hands out, so that it is still free after a restart. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    const free = await Promise.race([once(server, 'listening').then(() => true), once(server, 'error').then(() => false)]);
    if (!free) continue;
    const { port: taken } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return taken;
  }
}
