import { createInterface } from 'node:readline/promises';
import { type Role, SCOPES, type Scope } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import {
  createApiKey,
  createPerson,
  createProject,
  createSignInLink,
  type DirectoryDeps,
  directoryStore,
  type FoundProject,
  findPersonByEmail,
  grantRole,
  listProjects,
  OPERATOR,
  type Outcome,
  peopleOf,
  resetPassword,
  SCOPE_PRESETS,
  type ScopePreset,
  webhookSecrets,
} from '@countersign/directory';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { signInUrl } from '../address.js';
import { CannotStart } from '../cannot-start.js';
import { type Environment, platformConfig } from '../config.js';
import { readSecrets } from '../data/secrets.js';
import { Refused, type Run } from './command.js';
import type { Connection } from './connection.js';

/** `projects`, `keys` and `users`: what an operator does before anybody can sign in, or when nobody can any more. */
export function directoryCommands(program: Command, run: Run): void {
  projectCommands(program, run);
  keyCommands(program, run);
  userCommands(program, run);
}

function projectCommands(program: Command, run: Run): void {
  program
    .command('projects')
    .description('projects: who works together, and what their agents ask')
    .command('create')
    .argument('<name>')
    .option('--slug <slug>', 'short name, unique in the installation; made from the name when omitted')
    .action((name: string, options: { slug?: string }) =>
      run('projects create', async (connection, output, environment) => {
        const deps = accessDirectory(connection, environment);
        const slug = options.slug ?? slugOf(name);
        const { id } = accepted(await createProject(deps, { name, slug }, OPERATOR));
        const webhookSecret = (await webhookSecrets(deps, id))?.active.secret ?? null;
        output.answer({ id, name, slug, webhook_secret: webhookSecret }, () => [
          `✓ Project ${name} (${slug}): ${id}`,
          `  Webhook secret  ${webhookSecret}`,
          `  Next: countersign users create --project ${slug} --email … --name …, and countersign keys create --project ${slug} --name …`,
        ]);
        return 0;
      }),
    );
}

function keyCommands(program: Command, run: Run): void {
  program
    .command('keys')
    .description('API keys: what an agent asks with')
    .command('create')
    .requiredOption('--project <project>', 'id or slug')
    .requiredOption('--name <name>', 'what uses it')
    .addOption(new Option('--preset <use>', 'scopes by use').choices(Object.keys(SCOPE_PRESETS)).default('agent').conflicts('scope'))
    .option('--scope <scope...>', `scopes one by one: ${SCOPES.join(', ')}`)
    .option('--owner <person>', 'e-mail or id of the person who answers for it, and may not approve what it asks')
    .option('--expires-at <time>', 'RFC 3339')
    .option('--rate-limit <number>', 'writing requests an hour', wholeNumber)
    .action(
      (options: {
        project: string;
        name: string;
        preset: ScopePreset;
        scope?: string[];
        owner?: string;
        expiresAt?: string;
        rateLimit?: number;
      }) =>
        run('keys create', async (connection, output, environment) => {
          const deps = accessDirectory(connection, environment);
          const project = await projectNamed(deps, options.project);
          const scopes = scopesOf(options.scope ?? SCOPE_PRESETS[options.preset]);
          const { name, owner, expiresAt: expires_at, rateLimit: rate_limit_per_hour } = options;
          const made = accepted(await createApiKey(deps, project.id, { name, scopes, owner, expires_at, rate_limit_per_hour }, OPERATOR));
          output.answer({ id: made.id, project_id: project.id, name, scopes, raw_key: made.rawKey }, () => [
            `✓ Key ${name} of ${project.name}: ${made.id}`,
            `  ${made.rawKey}`,
            '  It is shown this once.',
          ]);
          return 0;
        }),
    );
}

function userCommands(program: Command, run: Run): void {
  program
    .command('users')
    .description('people: who may sign in')
    .command('create')
    .description('register a person, or let one who is registered back in: prints a one-time link that may set a new password')
    .requiredOption('--project <project>', 'id or slug of the project they join')
    .requiredOption('--email <address>')
    .option('--name <name>', 'needed for somebody new')
    .addOption(new Option('--role <role>', 'reviewer for somebody new, kept for a member, when omitted').choices(['admin', 'reviewer']))
    .option('--password-stdin', 'set the password that stands on the first line of standard input')
    .action((options: { project: string; email: string; name?: string; role?: Role; passwordStdin?: true }) =>
      run('users create', async (connection, output, environment) => {
        const deps = accessDirectory(connection, environment);
        const password = options.passwordStdin ? await firstLine() : undefined;
        const project = await projectNamed(deps, options.project);
        const known = await findPersonByEmail(deps, options.email);
        const member = (await peopleOf(deps, project.id)).find((person) => person.id === known?.id);
        const role = options.role ?? member?.role ?? 'reviewer';
        const id = known ? known.id : await registerPerson(deps, project, { ...options, role, password });
        if (known && member?.role !== role) accepted(await grantRole(deps, { project: project.id, person: id, role }, OPERATOR));
        if (known && password !== undefined) accepted(await resetPassword(deps, id, password, OPERATOR));
        const link = await createSignInLink(deps, { person: id, purpose: 'recovery' });
        if (!link) throw new Refused(`${options.email} could not be given a link: they were removed at this moment.`);
        const url = signInUrl(connection.server?.url ?? deps.config.publicUrl, link.token);
        output.answer(
          {
            id,
            email: options.email,
            project_id: project.id,
            role,
            created: known === null,
            sign_in_url: url,
            expires_at: link.expiresAt,
          },
          () => [
            `✓ ${options.email} ${known ? 'is' : 'was registered and is'} ${role} of ${project.name}: ${id}`,
            `  ${url}`,
            `  Signs them in once, until ${link.expiresAt}, and lets them set a password${connection.server ? '' : '; the server must run'}.`,
          ],
        );
        return 0;
      }),
    );
}

async function registerPerson(
  deps: DirectoryDeps,
  project: FoundProject,
  { email, name, role, password }: { email: string; name?: string; role: Role; password?: string },
): Promise<string> {
  if (name === undefined) throw new Refused(`${email} is not registered yet: give their name with --name.`);
  return accepted(await createPerson(deps, { email, name, password, project: project.id, role }, OPERATOR)).id;
}

/** The directory's commands on this database, with the key that seals its secrets. */
export function accessDirectory(connection: Connection, environment: Environment): DirectoryDeps {
  const { ownerUrl, dataDir, logger, teardown } = connection;
  const secretsKey = environment.SECRETS_KEY?.trim() || readSecrets(dataDir)?.secrets_key;
  if (!secretsKey) throw new CannotStart(`Neither SECRETS_KEY is set nor ${dataDir} holds one: set it to the one the server runs with.`);
  const own = { secretsKey, publicUrl: connection.server?.url ?? 'http://127.0.0.1:3100', loopback: true };
  const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 4, applicationName: 'countersign cli' });
  teardown.add(() => pool.end());
  const store = directoryStore({ pool, logger });
  teardown.add(() => store.close());
  return { store, pool, logger, config: platformConfig(environment, own).directory };
}

async function projectNamed(deps: DirectoryDeps, text: string): Promise<FoundProject> {
  const projects = await listProjects(deps);
  const found = projects.find(({ id, slug }) => id === text || slug === text);
  if (found) return found;
  const known = projects.map(({ slug }) => slug).join(', ');
  throw new Refused(`There is no project ${text}. ${known ? `There are: ${known}.` : 'Make one: countersign projects create <name>.'}`);
}

function scopesOf(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Refused(`There is no scope ${unknown}. There are: ${SCOPES.join(', ')}.`);
  return [...names] as Scope[];
}

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (slug === '') throw new Refused(`No slug can be made from "${name}": give one with --slug.`);
  return slug;
}

function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Refused(`${outcome.refusal.message.replace(/\.$/, '')} (${outcome.refusal.code}).`);
}

/** A password on the command line would stay in the shell's history and in the process list. */
async function firstLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  throw new Refused('Standard input ended before it gave a password.');
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('A whole number from 1.');
  return Number(text);
}
