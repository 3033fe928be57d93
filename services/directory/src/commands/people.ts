import { PersonRegistered, type Role } from '@countersign/contracts';
import { type EventMeta, newId, uuidOf } from '@countersign/event-store';
import { scryptCost } from '../config.js';
import { hashPassword, PASSWORD_LENGTH, passwordFault } from '../credentials/password.js';
import { writePassword } from '../credentials/rows.js';
import { inTurn } from '../credentials/turnstile.js';
import type { DirectoryDeps } from '../deps.js';
import { type FoundPerson, findPersons } from '../lookups/people.js';
import { registerPerson, renamePerson, setPassword } from '../person/decider.js';
import { normalEmail } from '../person/email.js';
import type { Person, PersonEvent } from '../person/person.js';
import { grantMembership } from '../project/membership-decider.js';
import { type DirectoryRefusal, done, type Outcome, refuse, refused } from '../refusals.js';
import type { Client } from '../sign-in/client.js';
import { checkPassword } from '../sign-in/password-gate.js';
import { mayRecover } from '../sign-in/sessions.js';
import { enter, type SignedIn } from '../sign-in/sign-in.js';
import { bodyRefusal } from './body.js';
import { onPerson, onPersonAndProject } from './write.js';

const FAULTS = {
  too_short: `A password must have at least ${PASSWORD_LENGTH.min} characters.`,
  too_long: `A password must have at most ${PASSWORD_LENGTH.max} characters.`,
  breached: 'This password is too common. Choose another.',
} as const;

export function passwordRefusal(password: string, param: string): DirectoryRefusal | null {
  const fault = passwordFault(password);
  return fault && refuse(fault, FAULTS[fault], { param });
}

export interface CreatePerson {
  /** Given by a caller that may have to repeat the command; made when omitted. */
  id?: string;
  email: string;
  name: string;
  /** Omitted: the person signs in by link until they set one. */
  password?: string;
  /** The project they join at the same moment, and as what. */
  project: string;
  role: Role;
}

/** Registers a person who is a member of a project from the first moment. */
export async function createPerson(deps: DirectoryDeps, command: CreatePerson, meta: EventMeta): Promise<Outcome<{ id: string }>> {
  const { email, name, password, project, role, id = newId('per') } = command;
  const fault =
    bodyRefusal(PersonRegistered, { email: normalEmail(email), name }) ??
    (password === undefined ? null : passwordRefusal(password, 'password'));
  if (fault) return refused(fault);
  const passwordFingerprint = password === undefined ? null : await writeNewPassword(deps, id, password);
  const joined = await onPersonAndProject(deps, { person: id, project }, meta, (personState, projectState) => ({
    person: registerPerson(personState, { email, name, passwordFingerprint }),
    project: grantMembership(projectState, { person: id, role }),
  }));
  await dropOtherPasswords(deps, id, joined.person);
  return joined.refusal ? refused(joined.refusal) : done({ id });
}

export const writeNewPassword = async (deps: DirectoryDeps, person: string, password: string): Promise<string> =>
  writePassword(
    deps.pool,
    person,
    await inTurn(deps, { lane: 'own', caller: person }, () => hashPassword(password, scryptCost(deps.config))),
  );

/** Verifiers the person's stream does not name (any more) are of no use but to a thief. */
export async function dropOtherPasswords(deps: DirectoryDeps, id: string, person: Person): Promise<void> {
  const current = person.status === 'registered' ? person.passwordFingerprint : null;
  await deps.pool.query(
    `delete from directory.passwords w where person = $1 and fingerprint is distinct from $2
       and created_at < event_store.now() - interval '1 hour'`,
    [uuidOf(id), current],
  );
}

export async function rename(deps: DirectoryDeps, id: string, name: string, meta: EventMeta): Promise<Outcome<null>> {
  const handled = await onPerson(deps, id, meta, (state) => renamePerson(state, { name }));
  return handled.refusal ? refused(handled.refusal) : done(null);
}

/** By an operator. The person is asked to choose another; every session ends with the old password. */
export async function resetPassword(deps: DirectoryDeps, id: string, password: string, meta: EventMeta): Promise<Outcome<null>> {
  const fault = passwordRefusal(password, 'password');
  if (fault) return refused(fault);
  const fingerprint = await writeNewPassword(deps, id, password);
  const handled = await onPerson(deps, id, meta, (state) => setPassword(state, { fingerprint, reason: 'reset' }));
  await dropOtherPasswords(deps, id, handled.state);
  return handled.refusal ? refused(handled.refusal) : done(null);
}

/** Whether the person's password is one they chose themselves: no operator's to replace unasked. */
export async function choseOwnPassword({ store }: Pick<DirectoryDeps, 'store'>, id: string): Promise<boolean> {
  const { events } = await store.readStream<PersonEvent>(id);
  const last = events.findLast((event) => event.type === 'person.password_changed');
  return last?.body?.reason === 'changed';
}

/**
 * By the person: ends all their sessions and opens a new one. The current password is asked for, except in a session that a recovery
 * link opened a short while ago.
 */
export async function changePassword(
  deps: DirectoryDeps,
  command: { person: string; session: string; current: string | undefined; next: string; client: Client },
  meta: EventMeta,
): Promise<Outcome<SignedIn>> {
  const { person: id, session, current, next, client } = command;
  const person = (await findPersons(deps, [id])).get(id);
  if (!person) return refused(refuse('person_not_found', 'No such person.'));
  const fault = passwordRefusal(next, 'body.new_password');
  if (fault) return refused(fault);
  if (current !== undefined || !(await mayRecover(deps.pool, session))) {
    const refusal = await currentPasswordFault(deps, person, current, { client, session });
    if (refusal) return refused(refusal);
  }
  const fingerprint = await writeNewPassword(deps, id, next);
  const expected = person.passwordFingerprint;
  const handled = await onPerson(deps, id, meta, (state) => setPassword(state, { fingerprint, reason: 'changed', expected }));
  await dropOtherPasswords(deps, id, handled.state);
  if (handled.refusal) return refused(handled.refusal);
  const entered = await enter(deps, { ...person, passwordFingerprint: fingerprint, passwordIsTemporary: false }, client);
  return entered ? done(entered) : refused(refuse('invalid_credentials', 'The person is no longer a member of any project.'));
}

async function currentPasswordFault(
  deps: DirectoryDeps,
  person: FoundPerson,
  current: string | undefined,
  from: { client: Client; session: string },
): Promise<DirectoryRefusal | null> {
  if (current === undefined) return refuse('wrong_password', 'The current password is required.', { param: 'body.current_password' });
  const checked = await checkPassword(deps, { email: person.email, person, password: current, ...from });
  if (checked.ok) return null;
  const { code, retryAfterSeconds } = checked.refusal;
  if (code === 'service_unavailable') return checked.refusal;
  if (retryAfterSeconds !== undefined) return { ...refuse('too_many_attempts', checked.refusal.message), retryAfterSeconds };
  return refuse('wrong_password', 'The current password is wrong.', { param: 'body.current_password' });
}
