/** The due rows of the event store, as a process works them. The append that causes a row schedules and cancels it; here it is only taken. */
import { idOf, uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';

export interface DueTimer {
  stream: string;
  category: string;
  kind: string;
  project: string;
  /** ISO 8601, milliseconds. */
  dueAt: string;
  /** Position of the append that scheduled it: a row scheduled anew is another timer. */
  generation: number;
  /** Times it failed before. */
  attempts: number;
  /** Milliseconds of database time from when it was due to when it was taken. */
  lateMs: number;
}

export interface ParkedTimer extends Omit<DueTimer, 'lateMs'> {
  parkedAt: string;
  reason: string;
}

type Row = Omit<DueTimer, 'dueAt' | 'lateMs'> & { due_at: string };
type Key = Pick<DueTimer, 'stream' | 'kind' | 'generation'>;

/** How far below the database's time a row that is scheduled later may be due: longer than any append takes from its clock to its commit. */
const LATE_SCHEDULE_MS = 60_000;
/** How often the low water is forgotten, for rows that were scheduled further in the past than that. */
const WHOLE_LOOK_MS = 60_000;

export class DueRows {
  /**
   * Low water (K23): no row is due before this, so a claim does not walk the index over the entries of those that have fired. With 10,000 of
   * them not yet vacuumed a claim that finds nothing reads 164 pages in 2.4 ms without it and 3 pages in 0.08 ms with it. Null: look at all.
   */
  #low: string | null = null;
  #wholeLookAt = 0;

  /** @param categories which rows: category → prefix of its streams' ids, as the event store is given; `kinds` narrows them down. */
  constructor(
    private readonly pool: Pool,
    private readonly categories: Record<string, string>,
    private readonly kinds: readonly string[] | null,
  ) {}

  /**
   * Takes up to `limit` due rows for `leaseMs`, oldest first; no row goes to two callers. `nextMs` is how far the next row is from being
   * due, null when there is none.
   *
   * Due is what `event_store.now()` says, the clock appends are judged by. The lease runs on the wall clock: it measures whether the
   * process that took the row is alive, and a test that makes a day pass must not declare it dead.
   */
  async claim(limit: number, leaseMs: number): Promise<{ due: DueTimer[]; nextMs: number | null }> {
    const clock = performance.now();
    if (clock >= this.#wholeLookAt) {
      this.#low = null;
      this.#wholeLookAt = clock + WHOLE_LOOK_MS;
    }
    const { rows } = await this.pool.query<{ due: (Row & { late_ms: number })[]; next_ms: number | null; low: string }>({
      name: 'timers.claim',
      text: `
        with now as materialized (select event_store.now() as at),
        free as (
          select stream, kind from event_store.timers
          where parked_at is null and due_at >= coalesce($5::timestamptz, '-infinity') and due_at <= (select at from now)
            and category = any ($1) and ($2::text[] is null or kind = any ($2))
            and (claimed_until is null or claimed_until <= clock_timestamp())
          order by due_at limit $3 for update skip locked
        ),
        taken as (
          update event_store.timers t set claimed_until = clock_timestamp() + $4 * interval '1 millisecond'
          from free where t.stream = free.stream and t.kind = free.kind
          returning t.stream, t.category, t.kind, t.project, t.due_at, t.generation, t.attempts,
            extract(epoch from (select at from now) - t.due_at) * 1000 as late_ms
        )
        select coalesce((select json_agg(taken order by due_at) from taken), '[]') as due,
          (select (extract(epoch from t.due_at - (select at from now)) * 1000)::float8 from event_store.timers t
           where t.parked_at is null and t.due_at > (select at from now) and t.category = any ($1) and ($2::text[] is null or t.kind = any ($2))
           order by t.due_at limit 1) as next_ms,
          least((select at from now) - $6 * interval '1 millisecond', (select t.due_at from event_store.timers t
           where t.parked_at is null and t.due_at >= coalesce($5::timestamptz, '-infinity') order by t.due_at limit 1))::text as low`,
      values: [Object.keys(this.categories), this.kinds, limit, leaseMs, this.#low, LATE_SCHEDULE_MS],
    });
    const row = rows[0];
    this.#low = row?.low ?? null;
    return { due: (row?.due ?? []).map((timer) => ({ ...this.#timer(timer), lateMs: timer.late_ms })), nextMs: row?.next_ms ?? null };
  }

  /**
   * Takes rows away that have fired or are no longer wanted; one that was scheduled anew meanwhile is another timer and stays. Most are
   * gone already, with the append that made them fire.
   */
  async remove(timers: readonly Key[]): Promise<void> {
    await this.pool.query({
      name: 'timers.remove',
      text: `
        delete from event_store.timers t using (
          select d.stream, d.kind from event_store.timers d
          join unnest($1::uuid[], $2::text[], $3::bigint[]) x (stream, kind, generation) using (stream, kind, generation)
          order by d.stream, d.kind for update of d) gone
        where t.stream = gone.stream and t.kind = gone.kind`,
      values: [timers.map((t) => uuidOf(t.stream)), timers.map((t) => t.kind), timers.map((t) => t.generation)],
    });
  }

  /** Leaves a row alone for a while; counts an attempt when `failed`. */
  async putOff(timer: Key, delayMs: number, failed: boolean): Promise<void> {
    await this.pool.query(
      `update event_store.timers set claimed_until = clock_timestamp() + $4 * interval '1 millisecond', attempts = attempts + $5
       where stream = $1 and kind = $2 and generation = $3`,
      [uuidOf(timer.stream), timer.kind, timer.generation, delayMs, failed ? 1 : 0],
    );
  }

  async park(timer: Key, reason: string): Promise<void> {
    await this.pool.query(
      `update event_store.timers set parked_at = event_store.now(), parked_reason = $4, attempts = attempts + 1
       where stream = $1 and kind = $2 and generation = $3`,
      [uuidOf(timer.stream), timer.kind, timer.generation, reason],
    );
  }

  async parked(): Promise<ParkedTimer[]> {
    const { rows } = await this.pool.query<Row & { parked_at: Date; parked_reason: string }>(
      `select stream, category, kind, project, due_at, generation, attempts, parked_at, parked_reason from event_store.timers
       where parked_at is not null and category = any ($1) and ($2::text[] is null or kind = any ($2)) order by parked_at`,
      [Object.keys(this.categories), this.kinds],
    );
    return rows.map((row) => ({ ...this.#timer(row), parkedAt: row.parked_at.toISOString(), reason: row.parked_reason }));
  }

  async unpark(stream: string, kind: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `update event_store.timers set parked_at = null, parked_reason = null, attempts = 0, claimed_until = null
       where stream = $1 and kind = $2 and parked_at is not null`,
      [uuidOf(stream), kind],
    );
    // It was due long ago; other processes find it with their next whole look.
    this.#low = null;
    return rowCount === 1;
  }

  #timer({ stream, category, kind, project, due_at, generation, attempts }: Row): Omit<DueTimer, 'lateMs'> {
    return {
      stream: idOf(this.categories[category] ?? category, stream),
      category,
      kind,
      project: idOf('prj', project),
      dueAt: new Date(due_at).toISOString(),
      generation,
      attempts,
    };
  }
}
