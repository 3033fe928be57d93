/** Keys whose events wait (B3, B4): the rows, and what a consumer remembers of those in its buckets. */
import { type StoredEvent, uuidOf } from '@countersign/event-store';
import type { Pool, PoolClient } from 'pg';
import type { ParkedKey } from '../port.js';

/** An event that parks its key, and why. `unknownType` when a version that knows the type may let it flow. */
export interface Park {
  event: StoredEvent;
  reason: string;
  unknownType: boolean;
  replayUntil: number;
}

export interface ParkedMark {
  bucket: number;
  position: number;
  replayUntil: number;
  unknownType: string | null;
}

/** Parks keys in the transaction that moves the cursor past them. */
export async function writeParks(tx: PoolClient, group: string, parks: Park[]): Promise<void> {
  for (const { event, reason, unknownType, replayUntil } of parks) {
    await tx.query(
      // A key that is parked already and fails at an earlier event (in a replay) waits from there; what had never been handled before
      // must not count as a replay when it is released.
      `insert into event_bus.parked as p (group_name, stream, stream_id, bucket, position, unknown_type, reason, parked_at, replay_until)
       values ($1, $2, $3, $4, $5, $6, $7, event_store.now(), $8)
       on conflict (group_name, stream) do update set
         position = excluded.position, unknown_type = excluded.unknown_type, reason = excluded.reason, parked_at = excluded.parked_at,
         replay_until = case when p.released_at is null then least(excluded.replay_until, greatest(p.replay_until, p.position - 1)) else excluded.replay_until end,
         release_requested = false, released_at = null`,
      [group, event.stream, uuidOf(event.stream), event.bucket, event.position, unknownType ? event.type : null, reason, replayUntil],
    );
  }
}

/** Keys parked in some buckets, by stream. */
export async function loadParked(pool: Pool, group: string, buckets: number[]): Promise<Map<string, ParkedMark>> {
  const { rows } = await pool.query<ParkedMark & { stream: string }>(
    `select stream, bucket, position, replay_until as "replayUntil", unknown_type as "unknownType"
     from event_bus.parked where group_name = $1 and bucket = any ($2) and released_at is null`,
    [group, buckets],
  );
  return new Map(rows.map(({ stream, ...mark }) => [stream, mark]));
}

/** Part of a key's events went through: the rest waits from here. */
export async function writeReleased(
  tx: PoolClient,
  group: string,
  stream: string,
  progress: { position: number; replayed: number; done: boolean },
): Promise<void> {
  await tx.query(
    `update event_bus.parked set position = $3, replayed = replayed + $4,
       release_requested = release_requested and not $5, released_at = case when $5 then event_store.now() end
     where group_name = $1 and stream = $2`,
    [group, stream, progress.position, progress.replayed, progress.done],
  );
}

const WAITING = `(select count(*) from event_store.events e
  join event_bus.cursors c on c.group_name = p.group_name and c.bucket = p.bucket
  where e.stream = p.stream_id and e.position >= p.position and e.position <= c.position)`;

export async function listParked(pool: Pool, group: string | undefined): Promise<ParkedKey[]> {
  const { rows } = await pool.query<Omit<ParkedKey, 'parkedAt'> & { parkedAt: Date }>(
    `select group_name as "group", stream, position, ${WAITING} as waiting, reason, parked_at as "parkedAt"
     from event_bus.parked p where released_at is null and ($1::text is null or group_name = $1) order by group_name, p.position`,
    [group ?? null],
  );
  return rows.map((row) => ({ ...row, parkedAt: row.parkedAt.toISOString() }));
}

export interface ReleaseState {
  /** Asked for and not done: the member that owns the bucket is at it, or none is up. */
  requested: boolean;
  released: boolean;
  replayed: number;
  waiting: number;
  /** Whether a live member works the key's bucket. */
  served: boolean;
}

export async function requestRelease(pool: Pool, group: string, stream: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `with asked as (
       update event_bus.parked set release_requested = true, replayed = 0 where group_name = $1 and stream = $2 and released_at is null returning group_name)
     select pg_notify('event_bus', group_name) from asked`,
    [group, stream],
  );
  return (rowCount ?? 0) > 0;
}

/** Asked of the row itself: a heartbeat's list may be older than the release that has just failed again. */
export async function releaseRequested(pool: Pool, group: string, stream: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select from event_bus.parked where group_name = $1 and stream = $2 and released_at is null and release_requested',
    [group, stream],
  );
  return rowCount === 1;
}

export async function releaseState(pool: Pool, group: string, stream: string): Promise<ReleaseState | null> {
  const { rows } = await pool.query<ReleaseState>(
    `select release_requested as requested, released_at is not null as released, replayed, ${WAITING} as waiting,
       not g.paused and exists (select from event_bus.subscriptions s join event_bus.members m on m.id = s.member
         where s.group_name = p.group_name and m.lease_until > clock_timestamp()) as served
     from event_bus.parked p join event_bus.groups g on g.name = p.group_name where p.group_name = $1 and p.stream = $2`,
    [group, stream],
  );
  return rows[0] ?? null;
}
