/** What the consumers ask of schema `event_bus` about groups, members and cursors, as a model. `bus-model.int.spec.ts` asks PostgreSQL the same. */
import { isDeepStrictEqual } from 'node:util';
import type { Statement } from '@countersign/database/model';
import type { BusModel, Cursor } from './bus-model.js';

const rowOf = (group: string) => (cursor: Cursor) => `cursor ${group} ${cursor.bucket}`;

export function groupStatements(bus: BusModel): Statement[] {
  const cursors = (group: string): Cursor[] => bus.cursors.get(group) ?? [];
  const owned = (group: string, member: string, buckets: number[] | null): Cursor[] =>
    cursors(group).filter((one) => one.owner === member && (buckets === null || buckets.includes(one.bucket)));
  /** Whoever is gone is struck off by the next heartbeat of another, which counts without them. */
  const alive = (id: string): boolean => {
    const member = bus.members.get(id);
    return member !== undefined && member.leaseUntil > bus.wallClock() && bus.inSession(member.session);
  };
  const subscribers = (group: string): string[] => [...bus.subscriptions].flatMap((one) => (one.group === group ? [one.member] : []));
  const sharesOf = (group: string, member: string, newcomer: boolean): { want: number; claims: Cursor[] } => {
    const live = subscribers(group).filter((one) => one === member || alive(one));
    if (newcomer && !live.includes(member)) live.push(member);
    const all = cursors(group);
    const before = live.filter((one) => one < member).length;
    const want = Math.floor(all.length / live.length) + (before < all.length % live.length ? 1 : 0);
    const mine = all.filter((one) => one.owner === member).length;
    const free = all.filter((one) => one.owner === null || !live.includes(one.owner));
    return { want, claims: mine < want ? free.slice(0, want - mine) : [] };
  };
  return [
    {
      begins: 'with known as ( insert into event_bus.groups',
      run([name, categories]: [string, string[]]) {
        const known = bus.groups.get(name);
        bus.groups.set(name, { paused: known?.paused ?? false, categories });
        return [{ count: known && isDeepStrictEqual(known.categories, categories) ? 0 : 1 }];
      },
    },
    {
      begins: 'insert into event_bus.cursors',
      run([group, buckets, position]: [string, number, number]) {
        const fresh = Array.from({ length: buckets }, (_, bucket) => ({ bucket, position, replayUntil: 0, owner: null, epoch: 0 }));
        if (bus.cursors.has(group)) return 0;
        bus.cursors.set(group, fresh);
        return buckets;
      },
    },
    {
      begins: 'event_bus.beat',
      locks: ([member, groups]: [string, string[]]) => groups.flatMap((group) => sharesOf(group, member, true).claims.map(rowOf(group))),
      run([member, groups, leaseMs, session]: [string, string[], number, number | null]) {
        const wall = bus.wallClock();
        bus.members.set(member, { leaseUntil: wall + leaseMs, session });
        for (const group of groups) if (!subscribers(group).includes(member)) bus.subscriptions.add({ group, member });
        for (const [id, one] of bus.members)
          if (id !== member && (one.leaseUntil < wall - 60_000 || !bus.inSession(one.session))) bus.leave(id);
        return groups.map((group) => {
          const { want, claims } = sharesOf(group, member, false);
          for (const one of claims) Object.assign(one, { owner: member, epoch: one.epoch + 1 });
          return {
            group_name: group,
            paused: bus.groups.get(group)?.paused ?? false,
            share: want,
            owned: owned(group, member, null).map(({ bucket, epoch, position, replayUntil }) => ({ bucket, epoch, position, replayUntil })),
            releases: bus.parkedOf(group).flatMap((row) => {
              const mine = cursors(group).some((one) => one.bucket === row.bucket && one.owner === member);
              return row.releaseRequested && mine ? [row.stream] : [];
            }),
          };
        });
      },
    },
    {
      begins: 'event_bus.advance',
      locks: ([group, member, buckets]: [string, string, number[]]) => owned(group, member, buckets).map(rowOf(group)),
      run([group, member, buckets, epochs, upTo]: [string, string, number[], number[], number], write) {
        const held = owned(group, member, buckets).filter((one) => one.epoch === epochs[buckets.indexOf(one.bucket)]);
        if (held.length !== buckets.length) return [{ moved: false }];
        write(() => {
          for (const one of held) one.position = Math.max(one.position, upTo);
        });
        return [{ moved: true }];
      },
    },
    {
      begins: 'select bucket, epoch, position, replay_until as "replayUntil" from event_bus.cursors',
      locks: ([group, member]: [string, string]) => owned(group, member, null).map(rowOf(group)),
      run: ([group, member]: [string, string]) =>
        owned(group, member, null).map(({ bucket, epoch, position, replayUntil }) => ({ bucket, epoch, position, replayUntil })),
    },
    {
      begins: 'select event_bus.give_back(',
      locks: ([group, member, buckets]: [string, string, number[] | null]) => owned(group, member, buckets).map(rowOf(group)),
      run([group, member, buckets]: [string, string, number[] | null]) {
        for (const one of owned(group, member, buckets)) Object.assign(one, { owner: null, epoch: one.epoch + 1 });
        bus.notify('event_bus');
        return [{ give_back: '' }];
      },
    },
    {
      begins: 'select event_bus.seek(',
      locks: ([group]: [string]) => cursors(group).map(rowOf(group)),
      run([group, position]: [string, number]) {
        for (const one of cursors(group)) {
          one.replayUntil = Math.max(one.replayUntil, one.position);
          Object.assign(one, { position, epoch: one.epoch + 1 });
        }
        bus.notify('event_bus');
        return [{ found: bus.groups.has(group) }];
      },
    },
    {
      begins: 'select event_bus.set_paused($1, true)',
      locks: ([group]: [string]) => cursors(group).map(rowOf(group)),
      run([group]: [string]) {
        for (const one of cursors(group)) one.epoch += 1;
        return pause(bus, group, true);
      },
    },
    { begins: 'select event_bus.set_paused($1, false)', run: ([group]: [string]) => pause(bus, group, false) },
    {
      begins: "select pg_notify('event_bus', $1)",
      run() {
        bus.notify('event_bus');
        return [{ pg_notify: '' }];
      },
    },
    {
      begins: 'delete from event_bus.subscriptions',
      run([group, member]: [string, string]) {
        const own = [...bus.subscriptions].filter((one) => one.group === group && one.member === member);
        for (const one of own) bus.subscriptions.delete(one);
        return own.length;
      },
    },
    {
      begins: 'delete from event_bus.members where id = $1',
      run([member]: [string]) {
        const known = bus.members.has(member);
        bus.leave(member);
        return known ? 1 : 0;
      },
    },
  ];
}

function pause(bus: BusModel, name: string, paused: boolean): unknown[] {
  const group = bus.groups.get(name);
  if (group) group.paused = paused;
  if (group) bus.notify('event_bus');
  return [{ found: group !== undefined }];
}
