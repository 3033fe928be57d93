/** What relay.ts and relayed.ts ask of the database, as a model. */
import type { Statement } from '@countersign/database/model';
import { uuidOf } from '@countersign/event-store';
import type { MemoryLog } from '@countersign/event-store/model';
import { canonicalize } from '@countersign/evidence';
import type { BusModel } from './bus-model.js';

export function relayStatements(bus: BusModel, log: Pick<MemoryLog, 'events' | 'now'>): Statement[] {
  return [
    {
      begins: 'event_bus.hold_relay',
      run([, member, session, leaseMs, reach]: [number, string, number | null, number, number]) {
        const head = log.events.length;
        const wall = bus.wallClock();
        bus.relay ??= { position: head, owner: null, session: null, epoch: 0, leaseUntil: 0 };
        const relay = bus.relay;
        const free = relay.owner === null || relay.leaseUntil < wall || !bus.inSession(relay.session);
        const mine = relay.owner === member;
        if (!mine && !free) return [];
        Object.assign(relay, {
          epoch: relay.epoch + (mine ? 0 : 1),
          owner: member,
          session,
          leaseUntil: wall + leaseMs,
          position: mine || relay.position >= head - reach ? relay.position : head,
        });
        return [{ epoch: relay.epoch, position: relay.position }];
      },
    },
    {
      begins: 'event_bus.relayed_page',
      run([, after, limit, maxBytes]: [number, number, number, number]) {
        let before = 0;
        return log.events.slice(after, after + limit).flatMap((event) => {
          const { stream, id, project, time, body, meta, redacted: _, ...rest } = event;
          const text = body === null ? null : canonicalize(body);
          const fits = before === 0 || before < maxBytes;
          before += Math.min(text === null ? 0 : Buffer.byteLength(text), 262_144);
          const ids = { streamUuid: uuidOf(stream), uuid: uuidOf(id), projectUuid: uuidOf(project) };
          const ms = Date.parse(time);
          return fits ? [{ ...rest, ...ids, ms, ageMs: log.now() - ms, body: text, meta: canonicalize(meta) }] : [];
        });
      },
    },
    {
      begins: 'event_bus.relayed',
      run([position, , owner, epoch]: [number, number, string, number]) {
        if (bus.relay?.owner !== owner || bus.relay.epoch !== epoch) return 0;
        bus.relay.position = position;
        return 1;
      },
    },
    {
      begins: 'update event_bus.relays set owner = null',
      run([, owner, epoch]: [number, string, number]) {
        if (bus.relay?.owner !== owner || bus.relay.epoch !== epoch) return 0;
        bus.relay.owner = null;
        return 1;
      },
    },
  ];
}
