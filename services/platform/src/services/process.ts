import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { MISCONFIGURED } from '@countersign/service-host';

/** A process that lived this long before it ended is started again at once; one that did not waits twice as long each time. */
const STEADY_MS = 5_000;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** A service's process: started again when it ends without having been told to, until it is stopped or says that its settings are wrong. */
export class ServiceProcess {
  /** Becomes what it wrote when it ended because of its settings. */
  readonly refused: Promise<string>;
  #refuse: (words: string) => void = () => {};
  #child: ChildProcess | null = null;
  #stopping = false;
  #wait = FIRST_WAIT_MS;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: {
      /** As its lines are marked with. */
      name: string;
      program: string;
      env: Record<string, string>;
      /** Gets each line it writes, marked. */
      print(line: string): void;
      /** Milliseconds it may take to end. */
      patience: number;
    },
  ) {
    this.refused = new Promise((resolve) => {
      this.#refuse = resolve;
    });
  }

  get name(): string {
    return this.options.name;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child?.kill('SIGTERM');
    const hurry = setTimeout(() => this.#child?.kill('SIGKILL'), this.options.patience);
    await this.#running;
    clearTimeout(hurry);
  }

  async #run(): Promise<void> {
    const { name, program, env, print } = this.options;
    while (!this.#stopping) {
      // The channel ends with this process, and the service with the channel: nothing is left running, whatever ends this process.
      const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
      this.#child = child;
      const started = performance.now();
      const words: string[] = [];
      for (const output of [child.stdout, child.stderr]) {
        if (!output) continue;
        createInterface({ input: output }).on('line', (line) => {
          print(`${name} | ${line}`);
          if (!line.startsWith('{')) words.push(line);
        });
      }
      // `close`, not `exit`: its last words have arrived.
      const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
      if (this.#stopping) return;
      if (code === MISCONFIGURED) return this.#refuse(words.join('\n'));
      const steady = performance.now() - started > STEADY_MS;
      this.#wait = steady ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, 2 * this.#wait);
      print(`${name} | ended (${signal ?? `code ${code}`}): starting again in ${this.#wait} ms`);
      await sleep(this.#wait);
    }
  }
}
