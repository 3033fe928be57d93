import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Ended, Move } from './contest.js';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The other side of a race, in another process: another store, another pool, another line of appends. */
export class Rival {
  #sent = 0;
  readonly #waiting = new Map<number, { resolve(ended: Ended): void; reject(error: Error): void }>();

  private constructor(private readonly child: ChildProcess) {
    child.on('message', ({ n, ended, error }: { n: number; ended?: Ended; error?: string }) => {
      const waiting = this.#waiting.get(n);
      this.#waiting.delete(n);
      if (ended) waiting?.resolve(ended);
      else waiting?.reject(new Error(error));
    });
  }

  static async start(connectionString: string): Promise<Rival> {
    const child = fork(at('rival-process.ts'), [connectionString], {
      execArgv: ['--disable-warning=ExperimentalWarning', '--import', at('../../../libs/testing/jest/source.mjs')],
      env: {},
    });
    await once(child, 'message');
    return new Rival(child);
  }

  move(review: string, move: Move): Promise<Ended> {
    const n = this.#sent++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(n, { resolve, reject });
      this.child.send({ n, review, move });
    });
  }

  async close(): Promise<void> {
    this.child.disconnect();
    await once(this.child, 'exit');
  }
}
