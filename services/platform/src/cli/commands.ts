import type { ScopePreset } from '@countersign/directory';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Run } from './command.js';
import type { ExportOptions, KeyOptions, RangeOptions, UserOptions } from './options.js';
import { PROJECTIONS, type ProjectionName } from './projection-names.js';

/** Every command with its options. What they do stands in a file each, loaded when it is called. */
export function addCommands(program: Command, run: Run): void {
  program
    .command('status')
    .description('what runs here, how long the log is, and how far each consumer is; exit code 1 when a stream is parked')
    .action(() => run('status', async () => (await import('./status.js')).status));
  directoryCommands(program, run);
  logCommands(program, run);
  consumerCommands(program, run);
}

/** What an operator does before anybody can sign in, or when nobody can any more. */
function directoryCommands(program: Command, run: Run): void {
  program
    .command('projects')
    .description('projects: who works together, and what their agents ask')
    .command('create')
    .argument('<name>')
    .option('--slug <slug>', 'short name, unique in the installation; made from the name when omitted')
    .action((name: string, options: { slug?: string }) =>
      run('projects create', async () => (await import('./projects.js')).createProjectWork(name, options)),
    );

  const presets = ['agent', 'reviewer', 'admin'] satisfies ScopePreset[];
  program
    .command('keys')
    .description('API keys: what an agent asks with')
    .command('create')
    .requiredOption('--project <project>', 'id or slug')
    .requiredOption('--name <name>', 'what uses it')
    .addOption(new Option('--preset <use>', 'scopes by use').choices(presets).default('agent').conflicts('scope'))
    .option('--scope <scope...>', 'scopes one by one; a wrong one is told which there are')
    .option('--owner <person>', 'e-mail or id of the person who answers for it, and may not approve what it asks')
    .option('--expires-at <time>', 'RFC 3339')
    .option('--rate-limit <number>', 'writing requests an hour', wholeNumber)
    .action((options: KeyOptions) => run('keys create', async () => (await import('./keys.js')).createKeyWork(options)));

  const users = program.command('users').description('people: who may sign in');
  users
    .command('create')
    .description('register a person, or let one who is registered back in: prints a one-time link that may set a new password')
    .requiredOption('--project <project>', 'id or slug of the project they join')
    .requiredOption('--email <address>')
    .option('--name <name>', 'needed for somebody new')
    .addOption(new Option('--role <role>', 'reviewer for somebody new, kept for a member, when omitted').choices(['admin', 'reviewer']))
    .option('--password-stdin', 'set the password that stands on the first line of standard input')
    .action((options: UserOptions) => run('users create', async () => (await import('./users.js')).createUserWork(options)));
  users
    .command('unlock')
    .description('let somebody sign in with their password again who failed too often, from wherever that was')
    .requiredOption('--email <address>')
    .action(({ email }: { email: string }) => run('users unlock', async () => (await import('./users.js')).unlockUserWork(email)));
}

/** What the log proves, and the log itself. */
function logCommands(program: Command, run: Run): void {
  program
    .command('verify')
    .description('recompute every hash of the event log; exit code 1 when one does not match')
    .option('--from <position>', 'first position', wholeNumber, 1)
    .option('--to <position>', 'last position; the newest when omitted', wholeNumber)
    .action((options: RangeOptions) => run('verify', async () => (await import('./verify.js')).verifyWork(options)));

  program
    .command('export')
    .description('write events as JSON lines with their exact bytes, salts and hashes')
    .option('--from <position>', 'first position', wholeNumber, 1)
    .option('--to <position>', 'last position; the newest when omitted', wholeNumber)
    .option('--project <project>', 'only events of this project: id or slug')
    .option('--output <file>', 'write to a new file instead of standard output')
    .action((options: ExportOptions) => run('export', async () => (await import('./export.js')).exportWork(options)));
}

const PROJECTION_HELP =
  'audit (review lists, feedback, stats, audit log), intake (template lists), decisions (who has a review in hand), directory (projects, people, keys), or all';

/** Read models, and streams a consumer could not handle. */
function consumerCommands(program: Command, run: Run): void {
  program
    .command('rebuild')
    .description('make a read model anew from the event log; the old one answers until the new one takes its place')
    .addArgument(new Argument('<projection>', PROJECTION_HELP).choices([...PROJECTIONS, 'all']))
    .action((name: ProjectionName | 'all') => run('rebuild', async () => (await import('./rebuild.js')).rebuildWork(name)));

  const parked = program.command('parked').description('streams that wait because a consumer could not handle one of their events');
  parked
    .command('list')
    .description('which streams wait, at which event, since when and why')
    .option('--group <consumer>', 'only this consumer, as in `countersign status`')
    .action((options: { group?: string }) => run('parked list', async () => (await import('./parked.js')).listParkedWork(options)));
  parked
    .command('unpark')
    .description('hand the waiting events of a stream to its consumer again, in order')
    .argument('<consumer>', 'as the first column of `countersign parked list` has it, such as audit')
    .argument('<stream>', 'as its second column has it: the id of a review, template, project, person or key, such as rev_…')
    .action((group: string, stream: string) => run('parked unpark', async () => (await import('./parked.js')).unparkWork(group, stream)));
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('It is a whole number from 1.');
  return Number(text);
}
