import { randomUUID } from 'node:crypto';
import type { EventBus } from '@countersign/event-bus';
import type { Logger } from '@countersign/telemetry';
import type { DirectoryClient } from '../admission/directory-client.js';
import type { StreamHub } from './hub.js';
import type { Reader } from './reader.js';

/** After this time without an answer of the directory nobody can be vouched for, and all streams end. */
const LONGEST_BLINDNESS_MS = 30_000;
const ASKED_AT_ONCE = 1_000;
/** Events of the directory come in bursts; one question answers all of them. */
const SOON_MS = 50;

/**
 * Asks the directory again and again whether the credentials of open streams are still good (H4): on a fixed beat, because a session that
 * ends is no event, and at once when a key, a person or a membership changed.
 */
export class CredentialWatch {
  #tail: { close(): Promise<void> } | null = null;
  #timer: NodeJS.Timeout | undefined;
  #due = Number.POSITIVE_INFINITY;
  #checking: Promise<void> | null = null;
  #again = false;
  #answeredAt = performance.now();
  #closed = false;

  constructor(
    private readonly parts: {
      hub: StreamHub;
      directory: DirectoryClient;
      bus: Pick<EventBus, 'tail'>;
      logger: Logger;
      everyMs: number;
    },
  ) {}

  async start(): Promise<void> {
    this.#tail = await this.parts.bus.tail({ from: 'now', categories: ['key', 'person', 'project'], onEvents: () => this.#in(SOON_MS) });
    this.#in(this.parts.everyMs);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#tail?.close();
    await this.#checking;
  }

  #in(ms: number): void {
    if (this.#closed) return;
    if (this.#checking) {
      this.#again = true;
      return;
    }
    const due = performance.now() + ms;
    // Events that keep coming must not put the check off again and again.
    if (due >= this.#due) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#due = Number.POSITIVE_INFINITY;
      this.#checking = this.#check().finally(() => {
        this.#checking = null;
        const next = this.#again ? SOON_MS : this.parts.everyMs;
        this.#again = false;
        this.#in(next);
      });
    }, ms);
  }

  async #check(): Promise<void> {
    const readers = [...this.parts.hub.readers];
    try {
      for (let i = 0; i < readers.length; i += ASKED_AT_ONCE) await this.#checkSome(new Set(readers.slice(i, i + ASKED_AT_ONCE)));
      this.#answeredAt = performance.now();
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'credentials of open streams could not be checked');
      if (performance.now() - this.#answeredAt > LONGEST_BLINDNESS_MS) for (const reader of readers) reader.end();
    }
  }

  async #checkSome(readers: ReadonlySet<Reader>): Promise<void> {
    const keyIds = new Set<string>();
    const sessionIds = new Set<string>();
    for (const { actor } of readers) {
      if (actor.kind === 'agent') keyIds.add(actor.key_id);
      else sessionIds.add(actor.session_id);
    }
    const current = await this.parts.directory.actors({ key_ids: [...keyIds], session_ids: [...sessionIds] }, `stream-${randomUUID()}`);
    this.parts.hub.refresh(current, readers);
  }
}
