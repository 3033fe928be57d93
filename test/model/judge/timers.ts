/** K7: a timer exists when its cause does, and no longer. Nothing is due when this looks. */

import type { Check } from './check.js';
import type { Facts } from './facts.js';

function wanted({ stream, requested, created, deadline, last, events, settled }: Facts): string[] {
  if (settled) return [];
  const timers: [string, number][] = [];
  if (deadline !== null) {
    timers.push(['timeout', deadline]);
    const reminder = created + Math.floor((requested.body?.timeout?.seconds ?? 0) * 0.75) * 1000;
    if (!events.some((event) => event.type === 'review.reminded')) timers.push(['reminder', reminder]);
  }
  if (last.status === 'awaiting' && last.changesDeadline !== null) timers.push(['changes_timeout', last.changesDeadline]);
  return timers.map(([kind, due]) => `${stream} ${kind} ${due}`);
}

export const TIMER_CHECKS = {
  *'timers are those that are wanted, and no others'({ stage, reviews }) {
    const { timers } = stage.database.log;
    const known = reviews.filter((review) => !review.alien);
    const there = new Set([...timers.values()].map((row) => `${row.stream} ${row.kind} ${row.dueAt}`));
    const expected = new Set(known.flatMap(wanted));
    for (const one of expected) if (!there.has(one)) yield `${one} is missing`;
    const strange = new Set(reviews.filter((review) => review.alien).map((review) => review.stream));
    for (const [one, row] of [...there].map((text, i) => [text, [...timers.values()][i]] as const))
      if (row && !expected.has(one) && !strange.has(row.stream)) yield `${one} is left over`;
  },

  *'only what nobody can read keeps a timer from firing'({ stage, reviews }) {
    for (const row of stage.database.log.timers.values()) {
      if (row.parked && !reviews.find((review) => review.stream === row.stream)?.alien)
        yield `${row.stream} ${row.kind}: ${row.parked.reason}`;
    }
  },
} satisfies Record<string, Check>;
