import { AUDIT_PROJECTION } from '@countersign/audit';
import { APP_ROLE, createPool } from '@countersign/database';
import { rebuildLookups } from '@countersign/directory';
import { type Projection, rebuildProjection } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import { INTAKE_PROJECTION } from '@countersign/intake';
import { Argument, type Command } from 'commander';
import type { Environment } from '../config.js';
import { PREFIXES } from '../schema.js';
import type { Run } from './command.js';
import type { Connection } from './connection.js';
import { accessDirectory } from './directory-commands.js';
import type { Output } from './output.js';

const PROJECTIONS: Record<string, Projection> = { audit: AUDIT_PROJECTION, intake: INTAKE_PROJECTION };

/** Read models by name: what each is made of the log by. */
const NAMES = [...Object.keys(PROJECTIONS), 'directory'];

/** `rebuild`: makes a read model anew from the log, while the old one answers. */
export function rebuildCommand(program: Command, run: Run): void {
  program
    .command('rebuild')
    .description('make a read model anew from the event log; the old one answers until the new one takes its place')
    .addArgument(new Argument('<projection>', 'read model').choices([...NAMES, 'all']))
    .action((name: string) =>
      run('rebuild', async (connection, output, environment) => {
        const rebuilt: { projection: string; events?: number; streams?: number }[] = [];
        for (const each of name === 'all' ? NAMES : [name]) rebuilt.push(await rebuild(each, connection, output, environment));
        output.answer({ rebuilt }, () =>
          rebuilt.map(
            ({ projection, events, streams }) => `✓ ${projection}: ${events === undefined ? `${streams} streams` : `${events} events`}`,
          ),
        );
        return 0;
      }),
    );
}

async function rebuild(
  name: string,
  connection: Connection,
  output: Output,
  environment: Environment,
): Promise<{ projection: string; events?: number; streams?: number }> {
  const bar = output.progress(`Rebuilding ${name}`);
  try {
    const projection = PROJECTIONS[name];
    if (!projection) return { projection: name, streams: await rebuildLookups(accessDirectory(connection, environment), bar.update) };
    const { ownerUrl, teardown } = connection;
    const owner = createPool({ connectionString: ownerUrl, max: 2, applicationName: 'countersign rebuild' });
    const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 2, applicationName: 'countersign rebuild' });
    teardown.add(() => Promise.all([owner.end(), pool.end()]));
    const store = new PostgresEventStore({ pool, writer: 'cli', categories: PREFIXES });
    return { projection: name, ...(await rebuildProjection(projection, { owner, store }, bar.update)) };
  } finally {
    bar.stop();
  }
}
