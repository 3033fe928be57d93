import { accessBus } from '../bus-access.js';
import type { Work } from '../command.js';
import { table } from '../output.js';

/** Whether a server runs, how far the log is, and how far each consumer and the relay to Kafka are behind it. */
export const status: Work = async (connection, output) => {
  const { pool, bus } = await accessBus(connection);
  const { rows } = await pool.query<{ position: number; streams: number; due: number; parked_timers: number }>(
    `select h.position, (select count(*) from event_store.streams) as streams,
            (select count(*) from event_store.timers where parked_at is null) as due,
            (select count(*) from event_store.timers where parked_at is not null) as parked_timers
     from event_store.head h where h.shard = 0`,
  );
  const log = rows[0] as (typeof rows)[number];
  const { groups: consumers, relay } = await bus.snapshot();
  const { server } = connection;
  output.answer(
    {
      server: server ? { running: true, pid: server.pid, url: server.url ?? null } : { running: false },
      data_dir: connection.dataDir,
      events: log.position,
      streams: log.streams,
      timers: { waiting: log.due, parked: log.parked_timers },
      consumers: consumers.map(({ group, events, ageMs, parked }) => ({
        group,
        behind: events,
        oldest_ms: Math.round(ageMs),
        parked,
      })),
      relay: relay && { running: relay.running, position: relay.position, behind: relay.behind, oldest_ms: Math.round(relay.ageMs) },
    },
    () => [
      server ? `Running at ${server.url ?? '(starting)'} (process ${server.pid}).` : 'No server is running on this data directory.',
      `${log.position} events in ${log.streams} streams; ${log.due} timers pending${log.parked_timers > 0 ? `, ${log.parked_timers} parked` : ''}.`,
      ...(consumers.length > 0
        ? [
            '',
            ...table(
              ['CONSUMER', 'BEHIND', 'OLDEST', 'PARKED'],
              consumers.map(({ group, events, ageMs, parked }) => [group, events, `${Math.round(ageMs)} ms`, parked]),
            ),
          ]
        : []),
      // What runs in one process asks Kafka for nothing: there the relay rests where services left it.
      ...(relay
        ? [
            '',
            `Kafka has the events up to ${relay.position}; ${relay.behind} wait, the oldest for ${Math.round(relay.ageMs)} ms.`,
            ...(relay.running ? [] : ['No process publishes there now.']),
          ]
        : []),
    ],
  );
  return consumers.some(({ parked }) => parked > 0) || log.parked_timers > 0 ? 1 : 0;
};
