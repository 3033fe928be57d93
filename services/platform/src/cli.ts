import { environment } from '@countersign/config';
import { VERSION } from '@countersign/service-host/version';
import { Command, CommanderError } from 'commander';
import { runner } from './cli/command.js';
import { addCommands } from './cli/commands.js';
import { failureLine, usageSentence } from './cli/failure.js';

/** A wrong call fails before options are known, hence the look at the arguments themselves. */
const wantsJson = process.argv.includes('--json');
const program = new Command('countersign')
  .description('Administer a Countersign server, running or stopped.')
  .version(VERSION)
  .option('--json', 'print the result as one JSON document (errors too, on standard error)')
  .addHelpText(
    'after',
    [
      '',
      'Uses the data in DATA_DIR (default ./.countersign), or DATABASE_URL if set.',
      'Exit codes: 0 ok, 1 check failed or refused, 2 usage error, 3 data unavailable.',
    ].join('\n'),
  )
  .configureOutput({
    // Help that nobody asked for: a command was left out.
    writeErr: (text) => process.stderr.write(wantsJson ? failureLine('Missing command. See --help.', true) : text),
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
