import type { EventBus } from '@countersign/event-bus';
import { accessBus } from './bus-access.js';
import type { Work } from './command.js';
import { Refused } from './failure.js';
import { table } from './output.js';

export const listParkedWork =
  (options: { group?: string }): Work =>
  async (connection, output) => {
    const { bus, groups } = await accessBus(connection);
    if (options.group !== undefined) knownGroup(options.group, groups);
    const keys = await bus.parked(options.group);
    output.answer({ parked: keys.map(wireOf) }, () =>
      keys.length === 0
        ? ['Nothing is parked.']
        : table(
            ['CONSUMER', 'STREAM', 'POSITION', 'WAITING', 'SINCE', 'REASON'],
            keys.map((key) => [key.group, key.stream, key.position, key.waiting, key.parkedAt, key.reason]),
          ),
    );
    return 0;
  };

export const unparkWork =
  (group: string, stream: string): Work =>
  async (connection, output) => {
    const { bus, groups } = await accessBus(connection);
    knownGroup(group, groups);
    const known = await bus.parked(group);
    if (!known.some((key) => key.stream === stream)) {
      throw new Refused(`${stream} is not parked in ${group}: see \`countersign parked list\`.`);
    }
    const { replayed, waiting } = await bus.unpark(group, stream);
    const again = (await bus.parked(group)).find((key) => key.stream === stream);
    const later = waiting > 0 && connection.server === null;
    output.answer({ group, stream, replayed, waiting, still_parked: again !== undefined && !later }, () => [
      later
        ? `${waiting} events will be handed to ${group} when the server runs.`
        : again
          ? `✗ ${stream} is parked again at position ${again.position}: ${again.reason}`
          : `✓ ${replayed} events handed over; ${stream} flows.`,
    ]);
    return again && !later ? 1 : 0;
  };

function knownGroup(group: string, groups: readonly string[]): void {
  if (groups.includes(group)) return;
  throw new Refused(
    `There is no consumer ${group}. ${groups.length > 0 ? `There are: ${groups.join(', ')}.` : 'The server makes them when it first runs.'}`,
  );
}

function wireOf(key: Awaited<ReturnType<EventBus['parked']>>[number]): Record<string, unknown> {
  const { group, stream, position, waiting, reason, parkedAt } = key;
  return { group, stream, position, waiting, reason, parked_at: parkedAt };
}
