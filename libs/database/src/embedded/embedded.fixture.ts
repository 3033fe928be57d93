/** An embedded PostgreSQL in a folder of its own, in this process and in others, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js';

export const asRoot = process.getuid?.() === 0;

/** A folder an earlier start made, to be copied: making one takes most of the time of a first start. */
export class InitialisedFolder {
  #path = '';

  async make(): Promise<void> {
    this.#path = await mkdtemp(join(tmpdir(), 'countersign-initialised-'));
    await (await startEmbeddedPostgres({ dataDir: join(this.#path, 'postgres') })).stop();
  }

  async copyTo(dataDir: string): Promise<void> {
    await spawnToEnd('cp', ['-a', join(this.#path, 'postgres'), dataDir]);
  }

  remove(): Promise<void> {
    return rm(this.#path, { recursive: true });
  }
}

/** A folder of one test, and the servers it starts there. */
export class Folder {
  readonly started: EmbeddedPostgres[] = [];

  private constructor(
    readonly path: string,
    public dataDir: string,
  ) {}

  static async make(): Promise<Folder> {
    const path = await mkdtemp(join(tmpdir(), 'countersign-embedded-'));
    if (asRoot) await spawnToEnd('chmod', ['755', path]);
    return new Folder(path, join(path, 'postgres'));
  }

  async start(): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir: this.dataDir });
    this.started.push(server);
    return server;
  }

  /** Another process that starts the server on the same folder, prints `pid url`, and then does what it is told. */
  async inProcess(then: string): Promise<{ child: ChildProcess; pid: number; url: string; ended: Promise<string> }> {
    const program = join(this.path, 'program.mjs');
    await writeFile(
      program,
      `import ${JSON.stringify(new URL('../../../testing/jest/source.mjs', import.meta.url).href)};
       const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)});
       const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(this.dataDir)} });
       const keep = setInterval(() => {}, 1000);
       setTimeout(() => console.log(server.pid + ' ' + server.url));
       ${then}`,
    );
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? String(code))));
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (chunk) => resolve(String(chunk)));
      child.once('exit', () => reject(new Error('The program ended before the server was there.')));
    });
    const [pid, url] = line.trim().split(' ');
    return { child, pid: Number(pid), url: url as string, ended };
  }

  async remove(): Promise<void> {
    for (const server of this.started.splice(0)) await server.stop();
    await rm(this.path, { recursive: true, force: true });
  }
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

export function spawnToEnd(program: string, args: string[]): Promise<number | null> {
  return new Promise((resolve) => spawn(program, args).once('close', resolve));
}
