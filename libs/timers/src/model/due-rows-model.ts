/** What due-rows.ts asks of `event_store.timers`, as a model over the rows of the store's. `due-rows-model.int.spec.ts` asks PostgreSQL the same. */
import type { Statement } from '@countersign/database/model';
import { uuidOf } from '@countersign/event-store';
import type { MemoryLog, TimerRow } from '@countersign/event-store/model';

/** @param wallClock milliseconds since 1970; leases run on it, and nothing else. */
export function dueRowStatements(log: Pick<MemoryLog, 'timers' | 'now'>, wallClock: () => number): Statement[] {
  const rowsOf = (categories: string[], kinds: string[] | null): TimerRow[] =>
    [...log.timers.values()].filter((row) => categories.includes(row.category) && (kinds === null || kinds.includes(row.kind)));
  const find = (stream: string, kind: string): TimerRow | undefined =>
    [...log.timers.values()].find((row) => row.kind === kind && uuidOf(row.stream) === stream);
  const same = (stream: string, kind: string, generation: number): TimerRow | undefined => {
    const row = find(stream, kind);
    return row?.generation === generation ? row : undefined;
  };
  return [
    {
      begins: 'timers.claim',
      run([categories, kinds, limit, leaseMs, low, lateMs]: [string[], string[] | null, number, number, string | null, number]) {
        const now = log.now();
        const wall = wallClock();
        const from = low === null ? Number.NEGATIVE_INFINITY : nextMillisecond(low);
        const waiting = rowsOf(categories, kinds).filter((row) => row.parked === null);
        const due = waiting
          .filter((row) => row.dueAt >= from && row.dueAt <= now && (row.claimedUntil === null || row.claimedUntil <= wall))
          .sort((a, b) => a.dueAt - b.dueAt)
          .slice(0, limit);
        for (const row of due) row.claimedUntil = wall + leaseMs;
        const next = waiting.filter((row) => row.dueAt > now).reduce((least, row) => Math.min(least, row.dueAt), Number.POSITIVE_INFINITY);
        const lowest = [...log.timers.values()].filter((row) => row.parked === null && row.dueAt >= from).map((row) => row.dueAt);
        return [
          {
            due: due.map((row) => ({ ...told(row), late_ms: now - row.dueAt })),
            next_ms: next === Number.POSITIVE_INFINITY ? null : next - now,
            low: new Date(Math.min(now - lateMs, ...lowest)).toISOString(),
          },
        ];
      },
    },
    {
      begins: 'timers.remove',
      run([streams, kinds, generations]: [string[], string[], number[]]) {
        const gone = streams.map((stream, i) => same(stream, kinds[i] as string, generations[i] as number));
        return gone.filter((row) => row && log.timers.delete(`${row.stream} ${row.kind}`)).length;
      },
    },
    {
      begins: 'update event_store.timers set claimed_until',
      run([stream, kind, generation, delayMs, failed]: [string, string, number, number, number]) {
        const row = same(stream, kind, generation);
        if (row) Object.assign(row, { claimedUntil: wallClock() + delayMs, attempts: row.attempts + failed });
        return row ? 1 : 0;
      },
    },
    {
      begins: 'update event_store.timers set parked_at = event_store.now()',
      run([stream, kind, generation, reason]: [string, string, number, string]) {
        const row = same(stream, kind, generation);
        if (!row) return 0;
        Object.assign(row, { parked: { at: log.now(), reason }, attempts: row.attempts + 1 });
        // To the end: what is parked is listed in the order in which it was, also within one millisecond.
        const key = `${row.stream} ${row.kind}`;
        log.timers.delete(key);
        log.timers.set(key, row);
        return 1;
      },
    },
    {
      begins: 'update event_store.timers set parked_at = null',
      run([stream, kind]: [string, string]) {
        const row = find(stream, kind);
        if (!row?.parked) return 0;
        Object.assign(row, { parked: null, attempts: 0, claimedUntil: null });
        return 1;
      },
    },
    {
      begins: 'select stream, category, kind, project, due_at, generation, attempts, parked_at',
      run([categories, kinds]: [string[], string[] | null]) {
        return rowsOf(categories, kinds).flatMap((row) =>
          row.parked ? [{ ...told(row), parked_at: new Date(row.parked.at), parked_reason: row.parked.reason }] : [],
        );
      },
    },
  ];
}

/** PostgreSQL's low water has microseconds, due times have milliseconds: what is due in the low water's own millisecond is due before it. */
const nextMillisecond = (low: string): number => Date.parse(low) + (/\.\d{3}0*[1-9]/.test(low) ? 1 : 0);

const told = ({ stream, category, kind, project, dueAt, generation, attempts }: TimerRow) => {
  const due_at = new Date(dueAt).toISOString();
  return { stream: uuidOf(stream), category, kind, project: uuidOf(project), due_at, generation, attempts };
};
