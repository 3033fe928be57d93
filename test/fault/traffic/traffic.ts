/** Agents and people at work on one running product, for as long as it is let; what they were told, what came to them, and how it ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Received, type Answer as Reply, verifyStandard } from '@countersign/testing';
import type { Server } from '../../e2e/server.js';
import { Chance } from '../../model/world/chance.js';
import { Listener } from './listener.js';
import { Recorder } from './recorder.js';
import { STORIES, TIMEOUTS, templateOf, WINDOW } from './stories.js';

/** Stories told at once. */
const CALLERS = 4;
/** What somebody takes to think between two of their stories. */
const THOUGHT_MS = 40;
/** Answers between two steps of the clock, and how far one takes it, in seconds. */
const A_STEP = { answers: 40, seconds: 15 };

let used = 0;

export class Traffic {
  readonly recorder = new Recorder();
  readonly listener: Listener;
  readonly arrivals: Received[] = [];
  readonly unsigned: string[] = [];
  /** What went wrong for somebody who asked until they were answered. */
  readonly broken: string[] = [];
  #going = true;
  #running: Promise<unknown>[] = [];

  private constructor(
    readonly server: Server,
    private readonly chance: Chance,
    /** Where the log ended before. */
    readonly since: number,
  ) {
    this.listener = new Listener(server.agent);
  }

  /** Once in a server's life: the templates the stories name. */
  static async prepare(server: Server): Promise<void> {
    for (const action of TIMEOUTS) {
      await server.publish({ slug: templateOf(action), timeout_seconds: WINDOW, timeout_action: action });
    }
  }

  static async start(server: Server, seed: number): Promise<Traffic> {
    const [head] = await server.topology.query<{ position: string }>('select position from event_store.head');
    const traffic = new Traffic(server, new Chance(seed), Number(head?.position ?? 0));
    await traffic.listener.placed;
    const callback_url = server.receiver.url(`/fault/${++used}`, traffic.#receive);
    traffic.#running = [
      ...Array.from({ length: CALLERS }, (_, n) => traffic.#caller(new Chance(seed * CALLERS + n), callback_url)),
      traffic.#clock(),
    ];
    return traffic;
  }

  /** Nobody begins anything new; resolves when what was begun has ended. */
  async end(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    await this.listener.close();
  }

  /** Makes time pass, whatever state the database is in. */
  async advance(seconds: number): Promise<void> {
    for (;;) {
      try {
        return await this.server.topology.advanceClock(seconds);
      } catch {
        await sleep(THOUGHT_MS);
      }
    }
  }

  readonly #receive: Reply = (received, response) => {
    try {
      verifyStandard(received, this.server.topology.credentials.webhook_secret);
    } catch {
      this.unsigned.push(received.headers['x-webhook-id'] ?? 'without an id');
    }
    this.arrivals.push(received);
    response.writeHead(200).end();
  };

  async #caller(chance: Chance, callback_url: string): Promise<void> {
    const { server, recorder } = this;
    while (this.#going) {
      await chance
        .pick(STORIES)({ server, recorder, chance, callback_url })
        .catch((error: Error) => {
          this.broken.push(error.message);
        });
      await sleep(chance.int(2 * THOUGHT_MS));
    }
  }

  async #clock(): Promise<void> {
    while (this.#going) {
      await Promise.race([this.recorder.moves(A_STEP.answers), sleep(2_000)]);
      if (this.#going) await this.advance(1 + this.chance.int(A_STEP.seconds));
    }
  }
}
