import { APP_ROLE, createPool } from '@countersign/database';
import { type EventBus, StoreEventBus } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import type { Command } from 'commander';
import type { Pool } from 'pg';
import { PREFIXES } from '../schema.js';
import { Refused, type Run } from './command.js';
import type { Connection } from './connection.js';
import { table } from './output.js';

/** What a command about consumers works with. It reads and changes their state in the database; it consumes nothing itself. */
export interface BusAccess {
  pool: Pool;
  bus: EventBus;
  groups: string[];
}

export async function accessBus({ ownerUrl, logger, teardown }: Connection): Promise<BusAccess> {
  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign cli' });
  teardown.add(() => pool.end());
  const store = new PostgresEventStore({ pool, writer: 'cli', categories: PREFIXES });
  const bus = new StoreEventBus({ pool, store, connectionString: ownerUrl, logger });
  teardown.add(() => bus.close());
  const { rows } = await pool.query<{ name: string }>('select name from event_bus.groups order by name');
  return { pool, bus, groups: rows.map(({ name }) => name) };
}

/** `parked list` and `parked unpark`: streams a consumer could not handle, and letting them flow again. */
export function busCommands(program: Command, run: Run): void {
  const parked = program.command('parked').description('streams that wait because a consumer could not handle one of their events');

  parked
    .command('list')
    .option('--group <name>', 'only this consumer')
    .action((options: { group?: string }) =>
      run('parked list', async (connection, output) => {
        const { bus } = await accessBus(connection);
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
      }),
    );

  parked
    .command('unpark')
    .description('hand the waiting events of a stream to its consumer again, in order')
    .argument('<group>', 'consumer, as in `parked list`')
    .argument('<stream>', 'id of the stream')
    .action((group: string, stream: string) =>
      run('parked unpark', async (connection, output) => {
        const { bus } = await accessBus(connection);
        const known = await bus.parked(group);
        if (!known.some((key) => key.stream === stream))
          throw new Refused(`${stream} is not parked in ${group}: see \`countersign parked list\`.`);
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
      }),
    );
}

function wireOf(key: Awaited<ReturnType<EventBus['parked']>>[number]): Record<string, unknown> {
  const { group, stream, position, waiting, reason, parkedAt } = key;
  return { group, stream, position, waiting, reason, parked_at: parkedAt };
}
