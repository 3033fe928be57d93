import { inTransaction } from '@countersign/database';
import { idOf, uuidOf } from '@countersign/event-store';
import { newToken, tokenHash } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { type FoundPerson, findPersonByEmail, findPersons, type Membership, membershipsOf } from '../lookups/people.js';
import { done, type Outcome, refuse, refused } from '../refusals.js';
import type { Client } from './client.js';
import { rememberDevice } from './devices.js';
import { checkPassword } from './password-gate.js';
import { type OpenedSession, openSession } from './sessions.js';

export interface SignedIn {
  session: OpenedSession;
  person: FoundPerson;
  /** At least one. */
  memberships: [Membership, ...Membership[]];
  /** To be kept on the device, so that strangers' failures do not count against it; null for a client that keeps no cookies. */
  deviceToken: string | null;
}

/** With e-mail and password. A person without any project is answered like one that does not exist. */
export async function signIn(
  deps: DirectoryDeps,
  command: { email: string; password: string; client: Client },
): Promise<Outcome<SignedIn>> {
  const person = await findPersonByEmail(deps, command.email);
  const checked = await checkPassword(deps, { ...command, person });
  if (!checked.ok) return checked;
  const opened = await enter(deps, checked.value, command.client);
  return opened ? done(opened) : refused(refuse('invalid_credentials', 'Incorrect e-mail address or password.'));
}

/** Opens a session for somebody who gave their password; null when they are in no project. */
export async function enter(deps: DirectoryDeps, person: FoundPerson, client: Client): Promise<SignedIn | null> {
  const [first, ...rest] = await membershipsOf(deps, person.id);
  if (!first) return null;
  const { passwordFingerprint } = person;
  const session = await openSession(deps.pool, { person: person.id, passwordFingerprint, method: 'password', recovery: false, client });
  return { session, person, memberships: [first, ...rest], deviceToken: await rememberDevice(deps.pool, person.id, client) };
}

export type LinkPurpose = 'sign_in' | 'recovery';

/**
 * A one-time link: `sign_in` opens a session, `recovery` opens one that may set a new password without the old one.
 * @returns the token and when it ends; null when there is no such person.
 */
export async function createSignInLink(
  deps: DirectoryDeps,
  command: { person: string; purpose: LinkPurpose; lifetimeSeconds?: number },
): Promise<{ token: string; expiresAt: string } | null> {
  if (!(await findPersons(deps, [command.person])).has(command.person)) return null;
  const token = newToken('csl_');
  const seconds = command.lifetimeSeconds ?? deps.config.signInLinkLifetime / 1000;
  const { rows } = await deps.pool.query<{ expires_at: Date }>(
    `insert into directory.sign_in_links (token_hash, person, purpose, expires_at)
     values ($1, $2, $3, event_store.now() + make_interval(secs => $4)) returning expires_at`,
    [tokenHash(token), uuidOf(command.person), command.purpose, seconds],
  );
  return { token, expiresAt: rows[0]?.expires_at.toISOString() ?? '' };
}

/** Exchanges a link's token, once: of two who send it at the same time one gets the session. */
export async function exchangeSignInLink(deps: DirectoryDeps, command: { token: string; client: Client }): Promise<Outcome<SignedIn>> {
  const refusal = refuse('invalid_sign_in_link', 'The sign-in link is invalid, already used or expired.');
  return inTransaction(deps.pool, async (tx) => {
    const { rows } = await tx.query<{ person: string; purpose: LinkPurpose }>(
      `update directory.sign_in_links set used_at = event_store.now()
        where token_hash = $1 and used_at is null and expires_at > event_store.now() returning person, purpose`,
      [tokenHash(command.token)],
    );
    const link = rows[0];
    if (!link) return refused(refusal);
    const id = idOf('per', link.person);
    const person = (await findPersons(deps, [id])).get(id);
    const [first, ...rest] = person ? await membershipsOf(deps, id) : [];
    if (!person || !first) return refused(refusal);
    const session = await openSession(tx, {
      person: id,
      passwordFingerprint: person.passwordFingerprint,
      method: link.purpose === 'recovery' ? 'recovery_link' : 'sign_in_link',
      recovery: link.purpose === 'recovery',
      client: command.client,
    });
    return done({
      session,
      person,
      memberships: [first, ...rest] as [Membership, ...Membership[]],
      deviceToken: await rememberDevice(deps.pool, id, command.client),
    });
  });
}
