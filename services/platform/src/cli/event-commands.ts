import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { APP_ROLE, createPool } from '@countersign/database';
import { type EventStore, PostgresEventStore } from '@countersign/event-store';
import type { Command } from 'commander';
import { CannotStart, systemCode } from '../cannot-start.js';
import { PREFIXES } from '../schema.js';
import { position, type Run } from './command.js';
import { exportEvents } from './export-events.js';

/** `verify` and `export`: what the log proves, and the log itself. */
export function eventCommands(program: Command, run: Run): void {
  program
    .command('verify')
    .description('recompute every hash of the event log; exit code 1 when one does not match')
    .option('--from <position>', 'first position', position, 1)
    .option('--to <position>', 'last position; the newest when omitted', position)
    .action((options: { from: number; to?: number }) =>
      run('verify', async ({ ownerUrl, teardown }, output) => {
        const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 2, applicationName: 'countersign verify' });
        teardown.add(() => pool.end());
        const store: EventStore = new PostgresEventStore({ pool, writer: 'cli', categories: PREFIXES });
        const bar = output.progress('Verifying');
        const report = await store.verify({ ...options, onProgress: (done, total) => bar.update(done, total) });
        bar.stop();
        const { valid, verifiedFrom, verifiedTo, events, redacted, firstBad } = report;
        output.answer({ valid, verified_from: verifiedFrom, verified_to: verifiedTo, events, redacted, first_bad: firstBad }, () => [
          `${events} events, positions ${verifiedFrom} to ${verifiedTo}${redacted > 0 ? `, ${redacted} of them redacted` : ''}.`,
          firstBad
            ? `✗ Position ${firstBad.position}${firstBad.stream ? ` (${firstBad.stream})` : ''}: ${firstBad.reason}`
            : '✓ Every hash is the one its event and its predecessor give.',
        ]);
        return valid ? 0 : 1;
      }),
    );

  program
    .command('export')
    .description('write events as JSON lines with their exact bytes, salts and hashes')
    .option('--from <position>', 'first position', position, 1)
    .option('--to <position>', 'last position; the newest when omitted', position)
    .option('--project <id>', 'only events of this project')
    .option('--output <file>', 'write to a new file instead of standard output')
    .action((options: { from: number; to?: number; project?: string; output?: string }) =>
      run('export', async ({ ownerUrl, teardown }, output) => {
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
      }),
    );
}

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
