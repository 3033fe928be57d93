/** What parking.ts asks of `event_bus.parked`, as a model. */
import type { Statement } from '@countersign/database/model';
import type { MemoryLog } from '@countersign/event-store/model';
import type { BusModel, ParkedRow } from './bus-model.js';

export function parkedStatements(bus: BusModel, log: Pick<MemoryLog, 'events' | 'now'>): Statement[] {
  const rowOf = (group: string, stream: string): ParkedRow | undefined => {
    const row = bus.parked.get(`${group} ${stream}`);
    return row?.releasedAt === null ? row : undefined;
  };
  const lock = ([group, stream]: [string, string]) => [`parked ${group} ${stream}`];
  return [
    {
      begins: 'insert into event_bus.parked',
      locks: lock,
      run(
        [group, stream, , bucket, position, unknownType, reason, replayUntil]: [
          string,
          string,
          string,
          number,
          number,
          string | null,
          string,
          number,
        ],
        write,
      ) {
        write(() => {
          const row = rowOf(group, stream);
          const handled = row ? Math.min(replayUntil, Math.max(row.replayUntil, row.position - 1)) : replayUntil;
          const { replayed } = bus.parked.get(`${group} ${stream}`) ?? { replayed: 0 };
          const parked = { group, stream, bucket, position, unknownType, reason, parkedAt: log.now(), replayUntil: handled, replayed };
          bus.parked.set(`${group} ${stream}`, { ...parked, releaseRequested: false, releasedAt: null });
        });
        return 1;
      },
    },
    {
      begins: 'select stream, bucket, position, replay_until as "replayUntil"',
      run([group, buckets]: [string, number[]]) {
        const rows = bus.parkedOf(group).filter((row) => buckets.includes(row.bucket));
        return rows.map(({ stream, bucket, position, replayUntil, unknownType }) => ({
          stream,
          bucket,
          position,
          replayUntil,
          unknownType,
        }));
      },
    },
    {
      begins: 'update event_bus.parked set position',
      locks: lock,
      run([group, stream, position, replayed, done]: [string, string, number, number, boolean], write) {
        write(() => {
          const row = bus.parked.get(`${group} ${stream}`);
          if (!row) return;
          const releaseRequested = row.releaseRequested && !done;
          Object.assign(row, { position, replayed: row.replayed + replayed, releaseRequested, releasedAt: done ? log.now() : null });
        });
        return bus.parked.has(`${group} ${stream}`) ? 1 : 0;
      },
    },
    {
      begins: 'with asked as ( update event_bus.parked',
      locks: lock,
      run([group, stream]: [string, string]) {
        const row = rowOf(group, stream);
        if (!row) return [];
        Object.assign(row, { releaseRequested: true, replayed: 0 });
        bus.notify('event_bus');
        return [{ pg_notify: '' }];
      },
    },
    {
      begins: 'select from event_bus.parked where',
      run: ([group, stream]: [string, string]) => (rowOf(group, stream)?.releaseRequested ? [{}] : []),
    },
    {
      begins: 'select release_requested as requested',
      run([group, stream]: [string, string]) {
        const row = bus.parked.get(`${group} ${stream}`);
        if (!row) return [];
        const cursor = bus.cursors.get(group)?.[row.bucket]?.position ?? 0;
        const waiting = log.events.filter((e) => e.stream === stream && e.position >= row.position && e.position <= cursor).length;
        const live = [...bus.subscriptions].some(
          (one) => one.group === group && (bus.members.get(one.member)?.leaseUntil ?? 0) > bus.wallClock(),
        );
        const served = bus.groups.get(group)?.paused === false && live;
        return [{ requested: row.releaseRequested, released: row.releasedAt !== null, replayed: row.replayed, waiting, served }];
      },
    },
  ];
}
