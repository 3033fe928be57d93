import { createInterface } from 'node:readline/promises';
import type { Role } from '@countersign/contracts';
import {
  clearFailures,
  createPerson,
  createSignInLink,
  type DirectoryDeps,
  type FoundProject,
  findPersonByEmail,
  grantRole,
  OPERATOR,
  peopleOf,
  resetPassword,
} from '@countersign/directory/administration';
import { signInUrl } from '../../address.js';
import type { Work } from '../command.js';
import { accepted, accessDirectory, projectNamed } from '../directory-access.js';
import { Refused, WrongCall } from '../failure.js';
import type { UserOptions } from '../options.js';

export const createUserWork =
  (options: UserOptions): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const password = options.passwordStdin ? await firstLine() : undefined;
    const project = await projectNamed(deps, options.project);
    const known = await findPersonByEmail(deps, options.email);
    const member = (await peopleOf(deps, project.id)).find((person) => person.id === known?.id);
    const role = options.role ?? member?.role ?? 'reviewer';
    const id = known ? known.id : await registerPerson(deps, project, { ...options, role, password });
    if (known && member?.role !== role) accepted(await grantRole(deps, { project: project.id, person: id, role }, OPERATOR));
    if (known && password !== undefined) accepted(await resetPassword(deps, id, password, OPERATOR));
    await clearFailures(deps.pool, options.email);
    const link = await createSignInLink(deps, { person: id, purpose: 'recovery' });
    if (!link) throw new Refused(`No sign-in link could be created: ${options.email} was just removed.`);
    const url = signInUrl(connection.server?.url ?? deps.config.publicUrl, link.token);
    output.answer(
      {
        id,
        email: options.email,
        name: known?.name ?? options.name ?? null,
        project_id: project.id,
        role,
        created: known === null,
        sign_in_url: url,
        expires_at: link.expiresAt,
      },
      () => [
        `✓ ${options.email} ${known ? 'is' : 'was created and is'} ${role} of ${project.name}: ${id}`,
        ...(known && options.name !== undefined && options.name !== known.name
          ? [`  Their name stays ${known.name}: people change it themselves, in the inbox.`]
          : []),
        `  ${url}`,
        `  One-time link, valid until ${link.expiresAt}: signs in and asks for a new password${connection.server ? '' : '. The server must be running'}.`,
      ],
    );
    return 0;
  };

/** What strangers or they themselves did wrong is forgotten; sessions and the password stay as they are. */
export const unlockUserWork =
  (email: string): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const person = await findPersonByEmail(deps, email);
    if (!person) throw new Refused(`No person has the e-mail address ${email}.`);
    const closed = await clearFailures(deps.pool, email);
    output.answer({ id: person.id, email: person.email, closed }, () => [
      closed === 0
        ? `✓ ${person.email} was not locked; failed sign-ins cleared.`
        : `✓ ${person.email} unlocked for ${closed} ${closed === 1 ? 'address or browser' : 'addresses or browsers'}.`,
    ]);
    return 0;
  };

async function registerPerson(
  deps: DirectoryDeps,
  project: FoundProject,
  { email, name, role, password }: { email: string; name?: string; role: Role; password?: string },
): Promise<string> {
  if (name === undefined) throw new WrongCall(`${email} is a new person. Set their name with --name.`);
  return accepted(await createPerson(deps, { email, name, password, project: project.id, role }, OPERATOR)).id;
}

/** A password on the command line would stay in the shell's history and in the process list. */
async function firstLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  throw new Refused('No password on standard input.');
}
