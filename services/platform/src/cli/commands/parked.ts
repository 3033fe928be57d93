import type { EventBus } from '@countersign/event-bus';
import { accessBus } from '../bus-access.js';
import type { Work } from '../command.js';
import { Refused } from '../failure.js';
import { table } from '../output.js';

export const listParkedWork =
  (options: { group?: string }): Work =>
  async (connection, output) => {
    const { bus, groups } = await accessBus(connection);
    if (options.group !== undefined) knownGroup(options.group, groups);
    const keys = await bus.parked(options.group);
    output.answer({ parked: keys.map(wireOf) }, () =>
      keys.length === 0
        ? ['No parked streams.']
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
      throw new Refused(`${stream} is not parked in ${group}. See \`countersign parked list\`.`);
    }
    const { replayed, waiting } = await bus.unpark(group, stream);
    const again = (await bus.parked(group)).find((key) => key.stream === stream);
    const later = waiting > 0 && connection.server === null;
    output.answer({ group, stream, replayed, waiting, still_parked: again !== undefined && !later }, () => [
      later
        ? `${waiting} events will be processed by ${group} when the server starts.`
        : again
          ? `✗ ${stream} is parked again at position ${again.position}: ${again.reason}`
          : `✓ ${replayed} events processed; ${stream} is no longer parked.`,
    ]);
    return again && !later ? 1 : 0;
  };

function knownGroup(group: string, groups: readonly string[]): void {
  if (groups.includes(group)) return;
  throw new Refused(
    `No consumer ${group}. ${groups.length > 0 ? `Consumers: ${groups.join(', ')}.` : 'The server creates them when it first starts.'}`,
  );
}

function wireOf(key: Awaited<ReturnType<EventBus['parked']>>[number]): Record<string, unknown> {
  const { group, stream, position, waiting, reason, parkedAt } = key;
  return { group, stream, position, waiting, reason, parked_at: parkedAt };
}
