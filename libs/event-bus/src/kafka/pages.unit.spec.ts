import type { StoredEvent } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PageEnd, ReceivedEvent } from './message.js';
import { Pages } from './pages.js';

const all = ({ counts }: PageEnd): number =>
  Object.values(counts)
    .flat()
    .reduce((sum, count) => sum + count, 0);
const event = (page: string, position: number): ReceivedEvent => ({ page, reference: null, event: { position } as StoredEvent });
const end = (page: string, from: number, to: number): PageEnd => ({ page, from, to, counts: { review: [to - from] } });

/** Everything that is whole now, as positions. */
function drain(pages: Pages): number[] {
  const positions: number[] = [];
  for (let page = pages.next(); page !== null; page = pages.next()) positions.push(...page.events.map((one) => one.event.position));
  return positions;
}

describe('Pages', () => {
  it('P1 gives a page out when it is whole, and not before', () => {
    const pages = new Pages(all);
    pages.event(event('a', 2));
    pages.end(end('a', 0, 2));
    expect(pages.next()).toBeNull();
    pages.event(event('a', 1));
    expect(drain(pages)).toEqual([1, 2]);
    expect(pages.position).toBe(2);
  });

  it('P1 keeps a page back until the one before it was given out or given up', () => {
    const pages = new Pages(all);
    for (const position of [3, 4]) pages.event(event('b', position));
    pages.end(end('b', 2, 4));
    expect(pages.next()).toBeNull();
    expect(pages.giveUpAt).toBe(2);
    pages.skipTo(2);
    expect(drain(pages)).toEqual([3, 4]);
  });

  it('gives up a page whose messages are lost at its end', () => {
    const pages = new Pages(all);
    pages.event(event('a', 1));
    pages.end(end('a', 0, 2));
    expect(pages.giveUpAt).toBe(2);
    pages.skipTo(2);
    expect([pages.next(), pages.giveUpAt]).toEqual([null, null]);
  });

  it('learns from an empty page where the head is', () => {
    const pages = new Pages(all);
    pages.end(end('idle', 7, 7));
    expect([pages.next(), pages.giveUpAt]).toEqual([null, 7]);
  });

  it('P2 gives every event out once and in order, whatever order and how often messages arrive, and whoever published them again', () => {
    const scenario = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }),
      // A relay that took over publishes again from here, in pages of another size.
      again: fc.integer({ min: 0, max: 12 }),
      size: fc.integer({ min: 1, max: 5 }),
      order: fc.infiniteStream(fc.nat()),
      copies: fc.array(fc.nat(), { maxLength: 10 }),
    });
    fc.assert(
      fc.property(scenario, ({ sizes, again, size, order, copies }) => {
        const last = sizes.reduce((sum, one) => sum + one, 0);
        const messages: (ReceivedEvent | PageEnd)[] = [];
        const publish = (from: number, to: number, relay: string) => {
          for (let position = from + 1; position <= to; position++) messages.push(event(`${relay}${from}`, position));
          messages.push(end(`${relay}${from}`, from, to));
        };
        let from = 0;
        for (const one of sizes) {
          publish(from, from + one, 'first');
          from += one;
        }
        for (let start = Math.min(again, last); start < last; start += size) publish(start, Math.min(last, start + size), 'second');
        for (const copy of copies) messages.push(messages[copy % messages.length] as PageEnd);
        const pages = new Pages(all);
        const seen: number[] = [];
        const picks = order[Symbol.iterator]();
        while (messages.length > 0) {
          const [message] = messages.splice((picks.next().value as number) % messages.length, 1) as [ReceivedEvent | PageEnd];
          if ('event' in message) pages.event(message);
          else pages.end(message);
          seen.push(...drain(pages));
        }
        expect(seen).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      }),
    );
  });
});
