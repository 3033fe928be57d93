import type { EventStore } from '@countersign/event-store';
import { Refused } from './failure.js';
import type { RangeOptions } from './options.js';

/**
 * The positions a command works on, both ends included. An end beyond the newest event is the newest event.
 * @throws {Refused} when there is none in it: a range that was asked for and is empty is a mistake, and nothing to call good.
 */
export async function rangeOf(store: EventStore, { from, to }: RangeOptions): Promise<{ from: number; to: number }> {
  if (to !== undefined && from > to) throw new Refused(`The range is empty: --from ${from} comes after --to ${to}.`);
  const { position: head } = await store.head();
  if (from > head && from > 1) throw new Refused(`The range is empty: the log ends at position ${head}, before --from ${from}.`);
  return { from, to: Math.min(to ?? head, head) };
}
