import { AUDIT_PROJECTION } from '@countersign/audit';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { DECISIONS_PROJECTION } from '@countersign/decisions';
import { rebuildLookups } from '@countersign/directory/administration';
import { type Projection, rebuildProjection } from '@countersign/event-bus';
import { PostgresEventStore } from '@countersign/event-store';
import { INTAKE_PROJECTION } from '@countersign/intake';
import { CannotStart, systemCode } from '../../cannot-start.js';
import type { Work } from '../command.js';
import type { Connection } from '../connection.js';
import { accessDirectory } from '../directory-access.js';
import type { Output } from '../output.js';
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

/** Events were checked when they were written: one that is not what it should be was changed since, behind the store's back. */
function unreadable(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || /^2[23]/.test(systemCode(error) ?? '');
}

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
  } catch (error) {
    throw unreadable(error)
      ? new CannotStart(
          `${projection} cannot be rebuilt: the log has an event that cannot be read. Run countersign verify; it names the first event that was changed.`,
          { cause: error },
        )
      : error;
  } finally {
    bar.stop();
  }
}
