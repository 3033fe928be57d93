import type { Role } from '@countersign/contracts';
import { type EventMeta, idOf, isId, newId, uuidOf } from '@countersign/event-store';
import { writeJoining } from '../credentials/rows.js';
import { newToken, tokenHash } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { findPersonByEmail, findPersons } from '../lookups/people.js';
import { registerPerson } from '../person/decider.js';
import { emailKey, normalEmail } from '../person/email.js';
import {
  acceptInvite,
  changeRole,
  endMembership,
  grantMembership,
  invitationFault,
  invite,
  resumeMembership,
  type TeamActor,
} from '../project/membership-decider.js';
import type { ActiveProject } from '../project/project.js';
import { type DirectoryRefusal, done, type Outcome, refuse, refused } from '../refusals.js';
import type { Client } from '../sign-in/client.js';
import { checkPassword } from '../sign-in/password-gate.js';
import { enter, type SignedIn } from '../sign-in/sign-in.js';
import { dropOtherPasswords, passwordRefusal, writeNewPassword } from './people.js';
import { readProject, type Written } from './projects.js';
import { onPersonAndProject, onProject } from './write.js';

/** Who is in a project: invitations, roles, leaving. */
const INVITATION_SECONDS = 7 * 24 * 3600;

export interface TeamMember {
  id: string;
  email: string;
  name: string;
  role: Role;
  isActive: boolean;
  lastSignInAt: string | null;
  since: string;
}

/** Everybody who is or was in the project, as its stream says now. */
export async function teamOf(deps: DirectoryDeps, project: string): Promise<TeamMember[]> {
  const found = await readProject(deps, project);
  return found ? membersOf(deps, found.project) : [];
}

async function membersOf(deps: DirectoryDeps, project: Pick<ActiveProject, 'members' | 'former'>): Promise<TeamMember[]> {
  const all = [
    ...Object.entries(project.members).map(([id, member]) => ({ id, ...member, isActive: true })),
    ...Object.entries(project.former).map(([id, member]) => ({ id, ...member, isActive: false })),
  ];
  const ids = all.map((member) => member.id);
  const [persons, signIns] = [await findPersons(deps, ids), await lastSignIns(deps, ids)];
  return all.flatMap(({ id, role, since, isActive }) => {
    const person = persons.get(id);
    return person ? [{ id, email: person.email, name: person.name, role, isActive, since, lastSignInAt: signIns.get(id) ?? null }] : [];
  });
}

async function lastSignIns(deps: DirectoryDeps, persons: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await deps.pool.query<{ person: string; last_sign_in_at: Date }>(
    'select person, last_sign_in_at from directory.person_sign_ins where person = any($1::uuid[])',
    [persons.map(uuidOf)],
  );
  return new Map(rows.map((row) => [idOf('per', row.person), row.last_sign_in_at.toISOString()]));
}

interface Membership {
  project: string;
  person: string;
  by: TeamActor;
}

/** Changes the role, takes out (`active: false`) or back (`active: true`); what is already so is left alone. */
export async function changeMember(
  deps: DirectoryDeps,
  { project, person, by }: Membership,
  change: { role?: Role; active?: boolean },
  meta: EventMeta,
): Promise<Outcome<Written<TeamMember>>> {
  if (!isId('per', person)) return refused(refuse('member_not_found', 'This person is not in the project.'));
  if (change.active === true) await writeJoining(deps.pool, person, project);
  const handled = await onProject(deps, project, meta, (state) => {
    if (change.active === false) return endMembership(state, { by, person });
    if (change.active === true) return resumeMembership(state, { by, person, role: change.role });
    const role = change.role ?? (state.status === 'active' ? state.members[person]?.role : undefined);
    return role
      ? changeRole(state, { by, person, role })
      : { events: [], refusal: refuse('member_not_found', 'This person is not in the project.') };
  });
  if (handled.refusal) return refused(handled.refusal);
  const { state } = handled;
  const [member] = state.status === 'active' ? await membersOf(deps, only(state, person)) : [];
  return member ? done({ value: member, seen: handled }) : refused(refuse('member_not_found', 'This person is not in the project.'));
}

function only(project: ActiveProject, person: string): Pick<ActiveProject, 'members' | 'former'> {
  const pick = (from: ActiveProject['members']) => (from[person] ? { [person]: from[person] } : {});
  return { members: pick(project.members), former: pick(project.former) };
}

export async function endMember(
  deps: DirectoryDeps,
  { project, person, by }: Membership,
  meta: EventMeta,
): Promise<Outcome<Written<null>>> {
  if (!isId('per', person)) return refused(refuse('member_not_found', 'This person is not in the project.'));
  const handled = await onProject(deps, project, meta, (state) => endMembership(state, { by, person }));
  return handled.refusal ? refused(handled.refusal) : done({ value: null, seen: handled });
}

/** By an operator at the server: takes a person in, or changes their role. */
export async function grantRole(
  deps: DirectoryDeps,
  command: { project: string; person: string; role: Role },
  meta: EventMeta,
): Promise<Outcome<null>> {
  if (!(await findPersons(deps, [command.person])).has(command.person)) return refused(refuse('person_not_found', 'No such person.'));
  await writeJoining(deps.pool, command.person, command.project);
  const handled = await onProject(deps, command.project, meta, (state) => grantMembership(state, command));
  return handled.refusal ? refused(handled.refusal) : done(null);
}

export interface Invited {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
  token: string;
}

/** The row with the address and the token's hash is written first; the event opens it (R1, R2). */
export async function inviteMember(
  deps: DirectoryDeps,
  command: { project: string; by: TeamActor; email: string; role: Role },
  meta: EventMeta,
): Promise<Outcome<Invited & Written<null>>> {
  const { project, by, role } = command;
  const email = normalEmail(command.email);
  const inviteId = newId('inv');
  const token = newToken('csi_');
  const { rows: earlier } = await deps.pool.query<{ id: string }>(
    'select id from directory.invitations where project = $1 and email_key = $2',
    [uuidOf(project), emailKey(email)],
  );
  await deps.pool.query('insert into directory.invitations (id, project, email, email_key, token_hash) values ($1, $2, $3, $4, $5)', [
    uuidOf(inviteId),
    uuidOf(project),
    email,
    emailKey(email),
    tokenHash(token),
  ]);
  const person = (await findPersonByEmail(deps, email))?.id ?? null;
  const replaces = earlier.map((row) => idOf('inv', row.id));
  const handled = await onProject(deps, project, meta, (state) =>
    invite(state, { by, inviteId, role, expiresInSeconds: INVITATION_SECONDS, person, replaces }),
  );
  if (handled.refusal) {
    await deps.pool.query('delete from directory.invitations where id = $1', [uuidOf(inviteId)]);
    return refused(handled.refusal);
  }
  const { state } = handled;
  const expiresAt = (state.status === 'active' && state.invitations[inviteId]?.expiresAt) || '';
  return done({ id: inviteId, email, role, expiresAt, token, value: null, seen: handled });
}

export interface OpenInvitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
  project: { id: string; name: string };
}

/** What the holder of an invitation's token is offered. Refuses `invite_invalid`, `invite_used`, `invite_expired`. */
export async function readInvitation(deps: DirectoryDeps, token: string): Promise<Outcome<OpenInvitation>> {
  const unknown = refused(refuse('invite_invalid', 'No such invitation, or it was withdrawn.'));
  const { rows } = await deps.pool.query<{ id: string; project: string; email: string }>(
    'select id, project, email from directory.invitations where token_hash = $1',
    [tokenHash(token)],
  );
  const row = rows[0];
  if (!row) return unknown;
  const [id, projectId] = [idOf('inv', row.id), idOf('prj', row.project)];
  const found = await readProject(deps, projectId);
  const invitation = found?.project.invitations[id];
  if (!found || !invitation) return unknown;
  const fault = invitationFault(found.project, id, found.now);
  if (fault) return refused(fault);
  const { role, expiresAt } = invitation;
  return done({ id, email: row.email, role, expiresAt, project: { id: projectId, name: found.project.name } });
}

/**
 * Accepts an invitation and signs in. Somebody new is registered and a member in one append. Somebody who is in the directory already
 * joins by their current password; with any other it is `email_taken`.
 */
export async function acceptInvitation(
  deps: DirectoryDeps,
  command: { token: string; name: string; password: string; client: Client },
  meta: (person: string) => EventMeta,
): Promise<Outcome<SignedIn>> {
  const offer = await readInvitation(deps, command.token);
  if (!offer.ok) return offer;
  const { id: inviteId, email, project } = offer.value;
  const known = await findPersonByEmail(deps, email);
  if (known) {
    const checked = await checkPassword(deps, { email, person: known, password: command.password, client: command.client });
    if (!checked.ok) return refused(takenRefusal(checked.refusal));
    await writeJoining(deps.pool, known.id, project.id);
    const handled = await onProject(deps, project.id, meta(known.id), (state, now) =>
      acceptInvite(state, { inviteId, person: known.id }, now),
    );
    if (handled.refusal) return refused(handled.refusal);
    return signedIn(deps, known.id, command.client);
  }
  const fault = passwordRefusal(command.password, 'body.password');
  if (fault) return refused(fault);
  const person = newId('per');
  const passwordFingerprint = await writeNewPassword(deps, person, command.password);
  const joined = await onPersonAndProject(deps, { person, project: project.id }, meta(person), (personState, projectState, now) => ({
    person: registerPerson(personState, { email, name: command.name, passwordFingerprint }),
    project: acceptInvite(projectState, { inviteId, person }, now),
  }));
  if (joined.refusal) return refused(joined.refusal);
  await dropOtherPasswords(deps, person, joined.person);
  return signedIn(deps, person, command.client);
}

async function signedIn(deps: DirectoryDeps, id: string, client: Client): Promise<Outcome<SignedIn>> {
  const person = (await findPersons(deps, [id])).get(id);
  const entered = person && (await enter(deps, person, client));
  return entered ? done(entered) : refused(refuse('invite_invalid', 'The membership ended in the meantime.'));
}

function takenRefusal({ code, message, retryAfterSeconds }: DirectoryRefusal): DirectoryRefusal {
  if (retryAfterSeconds !== undefined)
    return { ...refuse(code === 'account_locked' ? 'too_many_attempts' : code, message), retryAfterSeconds };
  return refuse('email_taken', 'An account with this e-mail address already exists. Accept the invitation with its password.', {
    param: 'body.password',
  });
}
