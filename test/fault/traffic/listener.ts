import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../e2e/server.js';
import { Stream } from '../../e2e/stream.js';
import type { SeenFrame } from '../judge/history.js';

const PAUSE_MS = 60;

/** An agent that listens to its events, and takes them up where they broke off. */
export class Listener {
  readonly frames: SeenFrame[] = [];
  /** How often it had to connect. */
  connections = 0;
  #last: string | undefined;
  #stream: Stream | null = null;
  #closed = false;
  #running: Promise<void>;
  readonly #placed = Promise.withResolvers<void>();

  constructor(private readonly agent: Caller) {
    this.#running = this.#run();
  }

  /** Resolves when it has a place in the stream: nothing that happens from then on may be missing. */
  get placed(): Promise<void> {
    return this.#placed.promise;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#stream?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#stream = await Stream.open(this.agent, this.#last, (frame, id) => {
        if (frame.type !== 'open') this.frames.push({ ...frame, id });
        this.#last = id;
        this.#placed.resolve();
      }).catch(() => null);
      this.connections += 1;
      // What came between is a matter of the place alone.
      await (this.#stream?.ended ?? sleep(PAUSE_MS));
    }
  }
}
