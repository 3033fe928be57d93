import { Command, CommanderError } from 'commander';
import { busCommands } from './cli/bus-commands.js';
import { runner } from './cli/command.js';
import { directoryCommands } from './cli/directory-commands.js';
import { eventCommands } from './cli/event-commands.js';
import { rebuildCommand } from './cli/rebuild-command.js';
import { statusCommand } from './cli/status-command.js';
import { environment } from './config.js';
import { VERSION } from './version.js';

const program = new Command('countersign')
  .description('Operate a Countersign station: beside its running server, or on the data of a stopped one.')
  .version(VERSION)
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
statusCommand(program, run);
directoryCommands(program, run);
eventCommands(program, run);
rebuildCommand(program, run);
busCommands(program, run);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
