import type { Environment } from '@countersign/config';
import { Teardown } from '@countersign/service-host/teardown';
import { createLogger, type Logger } from '@countersign/telemetry';
import { CannotStart } from '../cannot-start.js';
import { dataConfig } from '../config.js';
import { openDataDirectory } from '../data/data-directory.js';
import { type LockHolder, lockHolder } from '../data/lock.js';
import { openDatabase, openExternal } from '../database.js';
import { migrateAll } from '../schema.js';

/** The database a command works on, and what else is known about the place it belongs to. */
export interface Connection {
  /** As the owner of the schemas. */
  ownerUrl: string;
  dataDir: string;
  environment: Environment;
  /** The server this command works beside; null when none runs on this data directory. */
  server: LockHolder | null;
  logger: Logger;
  /** Steps to take when the command is done. */
  teardown: Teardown;
}

/**
 * `DATABASE_URL` if set; else the database of the server that runs on DATA_DIR; else the embedded PostgreSQL of DATA_DIR, started for as long
 * as the command takes and locked against a server starting meanwhile.
 * @param command as its user typed it, for whoever finds the directory in use.
 * @throws {CannotStart}
 */
export async function connect(command: string, environment: Environment): Promise<Connection> {
  const { dataDir, databaseUrl } = dataConfig(environment);
  const logger = createLogger({ service: 'cli', level: 'silent' });
  const teardown = new Teardown();
  const server = lockHolder(dataDir);
  const found = { dataDir, environment, logger, teardown };
  if (databaseUrl !== undefined) {
    const database = await openExternal(databaseUrl);
    await migrateAll(database.ownerUrl, logger);
    return { ...found, ownerUrl: database.ownerUrl, server };
  }
  if (server?.database_url !== undefined) return { ...found, ownerUrl: server.database_url, server };
  if (server) {
    throw new CannotStart(`${dataDir} is in use by \`${server.command}\` (process ${server.pid}), which must finish first.`);
  }
  const directory = await openDataDirectory(dataDir, { command, create: false });
  teardown.add(() => directory.lock.release());
  try {
    const database = await openDatabase({ url: undefined, directory, logger });
    teardown.add(() => database.stop());
    await migrateAll(database.ownerUrl, logger);
    return { ...found, ownerUrl: database.ownerUrl, server: null };
  } catch (error) {
    await teardown.run();
    throw error;
  }
}
