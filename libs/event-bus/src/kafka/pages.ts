/**
 * Puts the relay's pages together again. Within a partition messages keep their order, between partitions they do not: a page is whole when
 * all its messages are here, and pages go on in the order of their positions.
 *
 * P1 A page is given out once, whole, and only when everything before it was given out or given up (`skipTo`).
 * P2 Copies change nothing: a message counts once for its page, and what lies at or before the position is left out.
 * P3 What is held is bounded: of pages that never become whole, the oldest are given up.
 */
import type { PageEnd, ReceivedEvent } from './message.js';

export interface WholePage {
  events: ReceivedEvent[];
  from: number;
  to: number;
}

interface Page {
  end: PageEnd | null;
  events: Map<number, ReceivedEvent>;
  /** Messages still missing; unknown before the end is here. */
  missing: number;
}

const MOST_PAGES = 64;

export class Pages {
  readonly #pages = new Map<string, Page>();
  #position = 0;

  /** @param counted tells how many messages of a page this process is going to receive. */
  constructor(private readonly counted: (end: PageEnd) => number) {}

  get position(): number {
    return this.#position;
  }

  skipTo(position: number): void {
    this.#position = position;
    for (const [id, { end }] of this.#pages) if (end && end.to <= position) this.#pages.delete(id);
  }

  clear(): void {
    this.#pages.clear();
  }

  event(received: ReceivedEvent): void {
    const page = this.#page(received.page);
    if (page.events.has(received.event.position)) return;
    page.events.set(received.event.position, received);
    page.missing--;
  }

  end(end: PageEnd): void {
    const page = this.#page(end.page);
    if (page.end) return;
    page.end = end;
    page.missing = this.counted(end) - page.events.size;
  }

  /** The next page, if it is whole. */
  next(): WholePage | null {
    for (const [id, { end, events, missing }] of this.#pages) {
      if (!end || missing > 0 || end.from > this.#position) continue;
      this.#pages.delete(id);
      if (end.to <= this.#position) continue;
      const fresh = [...events.values()].filter(({ event }) => event.position > this.#position);
      fresh.sort((a, b) => a.event.position - b.event.position);
      this.#position = end.to;
      return { events: fresh, from: end.from, to: end.to };
    }
    return null;
  }

  /** Where to go on from when nothing becomes whole any more; null when nothing is waited for. */
  get giveUpAt(): number | null {
    let first: PageEnd | null = null;
    for (const { end } of this.#pages.values())
      if (end && end.to > this.#position && end.from < (first?.from ?? Number.POSITIVE_INFINITY)) first = end;
    if (first === null) return null;
    return first.from > this.#position ? first.from : first.to;
  }

  #page(id: string): Page {
    const known = this.#pages.get(id);
    if (known) return known;
    const page: Page = { end: null, events: new Map(), missing: 0 };
    this.#pages.set(id, page);
    if (this.#pages.size > MOST_PAGES) this.#pages.delete(this.#pages.keys().next().value as string);
    return page;
  }
}
