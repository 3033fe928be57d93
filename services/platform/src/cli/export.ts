import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { APP_ROLE, createPool } from '@countersign/database';
import { PostgresEventStore } from '@countersign/event-store';
import { CannotStart, systemCode } from '../cannot-start.js';
import { PREFIXES } from '../schema.js';
import type { Work } from './command.js';
import { exportEvents } from './export-events.js';
import type { ExportOptions } from './options.js';

export const exportWork =
  (options: ExportOptions): Work =>
  async ({ ownerUrl, teardown }, output) => {
    const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 1, applicationName: 'countersign export' });
    teardown.add(() => pool.end());
    const { position: head } = await new PostgresEventStore({ pool, writer: 'cli', categories: PREFIXES }).head();
    const range = { from: options.from, to: Math.min(options.to ?? head, head), project: options.project };
    const total = Math.max(0, range.to - range.from + 1);
    const bar = output.progress('Exporting');
    const out = options.output === undefined ? process.stdout : await newFile(options.output);
    const events = await exportEvents(pool, out, range, (done) => bar.update(done, total));
    bar.stop();
    if (options.output === undefined) return 0;
    out.end();
    await finished(out);
    output.answer({ file: options.output, from: range.from, to: range.to, events }, () => [
      `${events} events written to ${options.output}.`,
    ]);
    return 0;
  };

/** A file that was not there; an export never replaces another. */
async function newFile(path: string) {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  try {
    await new Promise<void>((opened, failed) => file.once('open', () => opened()).once('error', failed));
    return file;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw new CannotStart(`${path} is there already: name a new file.`, { cause: error });
    throw new CannotStart(`${path} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
}
