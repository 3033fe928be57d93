import type { ScopePreset } from '@countersign/directory/administration';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Run } from './command.js';
import { PROJECTIONS, type ProjectionName } from './commands/projection-names.js';
import type { EraseOptions, ExportOptions, KeyOptions, RangeOptions, UserOptions } from './options.js';

/** Every command with its options. What they do stands in a file each, loaded when it is called. */
export function addCommands(program: Command, run: Run): void {
  program
    .command('status')
    .description('show the server, the event log and consumer lag; exit code 1 if a stream is parked')
    .action(() => run('status', async () => (await import('./commands/status.js')).status));
  program
    .command('migrate')
    .description('bring the database to this version, before its services start; DATABASE_URL must be its owner’s')
    .action(() => run('migrate', async () => (await import('./commands/migrate.js')).migrateWork));
  directoryCommands(program, run);
  logCommands(program, run);
  consumerCommands(program, run);
}

/** What an operator does before anybody can sign in, or when nobody can any more. */
function directoryCommands(program: Command, run: Run): void {
  const projects = program.command('projects').description('manage projects');
  projects
    .command('list')
    .description('list projects with id and slug')
    .action(() => run('projects list', async () => (await import('./commands/projects.js')).listProjectsWork));
  projects
    .command('create')
    .description('create a project; prints its webhook secret')
    .argument('[name]', 'name of the project')
    .option('--name <name>', 'the same, as other commands take it')
    .option('--slug <slug>', 'unique short name; derived from the name if omitted')
    .action((argument: string | undefined, options: { name?: string; slug?: string }, command: Command) => {
      if ((argument === undefined) === (options.name === undefined)) {
        command.error('error: a project takes one name. Usage: countersign projects create <name> [--slug <slug>]');
      }
      const name = String(argument ?? options.name);
      return run('projects create', async () => (await import('./commands/projects.js')).createProjectWork(name, options));
    });

  const presets = ['agent', 'reviewer', 'admin'] satisfies ScopePreset[];
  const keys = program.command('keys').description('manage API keys');
  keys
    .command('list')
    .description('list the API keys of a project, without the keys themselves')
    .requiredOption('--project <project>', 'id or slug')
    .action(({ project }: { project: string }) => run('keys list', async () => (await import('./commands/keys.js')).listKeysWork(project)));
  keys
    .command('rotate')
    .description('replace an API key by a new one with the same settings; the old one ends at once')
    .argument('<key>', 'id, as listed by `countersign keys list`, such as key_…')
    .action((key: string) => run('keys rotate', async () => (await import('./commands/keys.js')).rotateKeyWork(key)));
  keys
    .command('revoke')
    .description('end an API key for good')
    .argument('<key>', 'id, as listed by `countersign keys list`, such as key_…')
    .action((key: string) => run('keys revoke', async () => (await import('./commands/keys.js')).revokeKeyWork(key)));
  keys
    .command('create')
    .description('create an API key; prints it once')
    .requiredOption('--project <project>', 'id or slug')
    .requiredOption('--name <name>', 'name of the agent or application')
    .addOption(new Option('--preset <use>', 'predefined set of scopes').choices(presets).default('agent').conflicts('scope'))
    .option('--scope <scope...>', 'individual scopes, instead of a preset')
    .option('--owner <person>', 'e-mail or id of the person responsible for the key, who may not approve its requests')
    .option('--expires-at <time>', 'RFC 3339')
    .option('--rate-limit <number>', 'maximum write requests per hour', wholeNumber)
    .action((options: KeyOptions) => run('keys create', async () => (await import('./commands/keys.js')).createKeyWork(options)));

  const users = program.command('users').description('manage people');
  users
    .command('create')
    .description('create a person, or restore access for an existing one; prints a one-time link that signs in and asks for a new password')
    .requiredOption('--project <project>', 'id or slug of the project they join')
    .requiredOption('--email <address>')
    .option('--name <name>', 'required for a new person')
    .addOption(
      new Option('--role <role>', 'default: reviewer for a new member, unchanged for an existing one').choices(['admin', 'reviewer']),
    )
    .option('--password-stdin', 'read the password from the first line of standard input')
    .action((options: UserOptions) => run('users create', async () => (await import('./commands/users.js')).createUserWork(options)));
  users
    .command('unlock')
    .description('clear failed sign-in attempts, so that the person can sign in with a password again')
    .requiredOption('--email <address>')
    .action(({ email }: { email: string }) => run('users unlock', async () => (await import('./commands/users.js')).unlockUserWork(email)));
}

/** What the log proves, and the log itself. */
function logCommands(program: Command, run: Run): void {
  program
    .command('verify')
    .description('verify the hash chain of the event log; exit code 1 on a mismatch')
    .option('--from <position>', 'first position', wholeNumber, 1)
    .option('--to <position>', 'last position; default: the newest', wholeNumber)
    .action((options: RangeOptions) => run('verify', async () => (await import('./commands/verify.js')).verifyWork(options)));

  program
    .command('export')
    .description('export events as JSON lines, with exact bytes, salts and hashes')
    .option('--from <position>', 'first position', wholeNumber, 1)
    .option('--to <position>', 'last position; default: the newest', wholeNumber)
    .option('--project <project>', 'only events of this project (id or slug)')
    .option('--output <file>', 'write to a new file instead of standard output')
    .action((options: ExportOptions) => run('export', async () => (await import('./commands/export.js')).exportWork(options)));

  program
    .command('erase')
    .description('erase the content of a stream for ever, such as of a review; hashes stay, so the log still verifies')
    .argument('<stream>', 'stream id, such as rev_…')
    .requiredOption('--reason <text>', 'recorded in the event log; name nobody in it')
    .option('--metadata', 'also erase who caused the events')
    .option('--yes', 'confirm: this cannot be undone')
    .action((stream: string, options: EraseOptions) =>
      run('erase', async () => (await import('./commands/erase.js')).eraseWork(stream, options)),
    );
}

const PROJECTION_HELP =
  'audit (review lists, feedback, stats, audit log), intake (template lists), decisions (assignments and claims), directory (projects, people, keys), or all';

/** Read models, and streams a consumer could not handle. */
function consumerCommands(program: Command, run: Run): void {
  program
    .command('rebuild')
    .description('rebuild a read model from the event log; the old one stays in use until the new one is ready')
    .addArgument(new Argument('<projection>', PROJECTION_HELP).choices([...PROJECTIONS, 'all']))
    .action((name: ProjectionName | 'all') => run('rebuild', async () => (await import('./commands/rebuild.js')).rebuildWork(name)));

  const parked = program.command('parked').description('manage streams parked after a consumer failed to process an event');
  parked
    .command('list')
    .description('list parked streams with position, time and reason')
    .option('--group <consumer>', 'only this consumer (see `countersign status`)')
    .action((options: { group?: string }) =>
      run('parked list', async () => (await import('./commands/parked.js')).listParkedWork(options)),
    );
  parked
    .command('unpark')
    .description('reprocess the waiting events of a parked stream, in order')
    .argument('<consumer>', 'consumer, as listed by `countersign parked list`, such as audit')
    .argument('<stream>', 'stream id, as listed by `countersign parked list`, such as rev_…')
    .action((group: string, stream: string) =>
      run('parked unpark', async () => (await import('./commands/parked.js')).unparkWork(group, stream)),
    );
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('Must be a whole number, 1 or more.');
  return Number(text);
}
