import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { APP_ROLE, createPool } from '@countersign/database';
import { directoryStore } from '@countersign/directory/administration';
import { CannotStart, systemCode } from '../../cannot-start.js';
import type { Work } from '../command.js';
import { projectNamed } from '../directory-access.js';
import type { ExportOptions } from '../options.js';
import { rangeOf } from '../range.js';
import { exportEvents } from './export-events.js';

export const exportWork =
  (options: ExportOptions): Work =>
  async ({ ownerUrl, teardown, logger }, output) => {
    const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 2, applicationName: 'countersign export' });
    teardown.add(() => pool.end());
    const store = directoryStore({ pool, logger });
    teardown.add(() => store.close());
    const project = options.project === undefined ? undefined : (await projectNamed({ store, pool }, options.project)).id;
    const range = { ...(await rangeOf(store, options)), project };
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
    if (systemCode(error) === 'EEXIST') throw new CannotStart(`${path} already exists; choose another file.`, { cause: error });
    throw new CannotStart(`Cannot write ${path}: ${(error as Error).message}.`, { cause: error });
  }
}
