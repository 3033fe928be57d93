import { Command, CommanderError } from 'commander';
import { runner } from './cli/command.js';
import { addCommands } from './cli/commands.js';
import { failureLine, usageSentence } from './cli/failure.js';
import { environment } from './environment.js';
import { VERSION } from './version.js';

/** A wrong call fails before options are known, hence the look at the arguments themselves. */
const wantsJson = process.argv.includes('--json');
const program = new Command('countersign')
  .description('Operate a Countersign station: beside its running server, or on the data of a stopped one.')
  .version(VERSION)
  .option('--json', 'answer with one JSON document; an error is one as well, on standard error')
  .addHelpText(
    'after',
    [
      '',
      'Works on the data of DATA_DIR (./.countersign), or on DATABASE_URL when that is set.',
      'Exit codes: 0 done, 1 not as it should be or refused, 2 called wrongly, 3 the data cannot be worked on.',
    ].join('\n'),
  )
  .configureOutput({
    // Help that nobody asked for: a command was left out.
    writeErr: (text) => process.stderr.write(wantsJson ? failureLine('A command is missing: see --help.', true) : text),
    outputError: (text) => process.stderr.write(failureLine(usageSentence(text), wantsJson)),
  })
  .exitOverride();

addCommands(
  program,
  runner(environment(), () => program.opts<{ json?: boolean }>().json === true),
);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
