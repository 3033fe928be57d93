import { AUDIT_PROJECTION } from '@countersign/audit';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { DECISIONS_PROJECTION } from '@countersign/decisions';
import { rebuildLookups } from '@countersign/directory';
import { type Projection, rebuildProjection } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import { INTAKE_PROJECTION } from '@countersign/intake';
import type { Work } from './command.js';
import type { Connection } from './connection.js';
import { accessDirectory } from './directory-access.js';
import type { Output } from './output.js';
import { PROJECTIONS, type ProjectionName } from './projection-names.js';

/** What each read model is made of the log by; the directory's look-ups are folded stream by stream. */
const FROM_LOG: Record<Exclude<ProjectionName, 'directory'>, Projection> = {
  audit: AUDIT_PROJECTION,
  intake: INTAKE_PROJECTION,
  decisions: DECISIONS_PROJECTION,
};

interface Rebuilt {
  projection: ProjectionName;
  events?: number;
  streams?: number;
}

export const rebuildWork =
  (name: ProjectionName | 'all'): Work =>
  async (connection, output) => {
    const rebuilt: Rebuilt[] = [];
    for (const each of name === 'all' ? PROJECTIONS : [name]) rebuilt.push(await rebuild(each, connection, output));
    output.answer({ rebuilt }, () =>
      rebuilt.map(
        ({ projection, events, streams }) => `✓ ${projection}: ${events === undefined ? `${streams} streams` : `${events} events`}`,
      ),
    );
    return 0;
  };

async function rebuild(projection: ProjectionName, connection: Connection, output: Output): Promise<Rebuilt> {
  const bar = output.progress(`Rebuilding ${projection}`);
  try {
    if (projection === 'directory') return { projection, streams: await rebuildLookups(accessDirectory(connection), bar.update) };
    const { ownerUrl, teardown } = connection;
    const owner = createPool({ connectionString: ownerUrl, max: 2, applicationName: 'countersign rebuild' });
    const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 2, applicationName: 'countersign rebuild' });
    teardown.add(() => Promise.all([owner.end(), pool.end()]));
    const store = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });
    return { projection, ...(await rebuildProjection(FROM_LOG[projection], { owner, store }, bar.update)) };
  } finally {
    bar.stop();
  }
}
