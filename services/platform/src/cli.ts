import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { runner } from './cli/command.js';
import { eventCommands } from './cli/event-commands.js';
import { environment } from './config.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
const program = new Command('countersign')
  .description('Operate a Countersign station: beside its running server, or on the data of a stopped one.')
  .version(version)
  .option('--json', 'answer with one JSON document')
  .addHelpText(
    'after',
    [
      '',
      'Works on the data of DATA_DIR (./.countersign), or on DATABASE_URL when that is set.',
      'Exit codes: 0 done, 1 not as it should be or refused, 2 called wrongly, 3 the data cannot be worked on.',
    ].join('\n'),
  )
  .exitOverride();

const run = runner(environment(), () => program.opts<{ json?: boolean }>().json === true);
eventCommands(program, run);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
