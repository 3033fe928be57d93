import { scryptCost } from '../config.js';
import { nobody, verifyPassword } from '../credentials/password.js';
import { readPassword } from '../credentials/rows.js';
import { BusyError, inTurn } from '../credentials/turnstile.js';
import type { DirectoryDeps } from '../deps.js';
import type { FoundPerson } from '../lookups/people.js';
import { NOBODY } from '../person/nobody.js';
import { done, type Outcome, refuse, refused } from '../refusals.js';
import { countAttempt, forgetFailures, type Source, sourceOf } from './attempts.js';
import type { Client } from './client.js';

export interface PasswordTry {
  email: string;
  /** Whom the address belongs to; null for nobody. */
  person: FoundPerson | null;
  password: string;
  client: Client;
  /** The person's own session, when they give their password again in it. */
  session?: string;
}

const REFUSALS = {
  account_locked: 'Too many failed sign-ins from this address. Wait, use a browser you have signed in with before, or use a sign-in link.',
  too_many_attempts:
    'Too many failed sign-ins for this account. Wait, use a browser you have signed in with before, or use a sign-in link.',
} as const;

const QUEUE_REFUSALS = {
  caller: refuse('too_many_attempts', 'Too many sign-ins from this address are in progress. Try again in a few seconds.'),
  all: refuse('service_unavailable', 'Too many sign-ins are in progress on this server. Try again in a few seconds.'),
};

/**
 * The one place where somebody's password is checked: counted first, then verified, at the same cost whether the person exists or not (W2, O6, O7).
 * Refuses `account_locked`, `too_many_attempts` or `service_unavailable` (with the seconds to wait), or `invalid_credentials`.
 */
export async function checkPassword(deps: DirectoryDeps, who: PasswordTry): Promise<Outcome<FoundPerson>> {
  const source = await sourceOf(deps.pool, who.email, who.person?.id ?? null, who);
  try {
    return await inTurn(deps, { lane: source.kind, caller: source.name }, () => countAndVerify(deps, who, source));
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    deps.logger.info({ lane: source.kind, queue: error.queue }, 'password not checked: its queue is full or too slow');
    return refused({ ...QUEUE_REFUSALS[error.queue], retryAfterSeconds: 2 });
  }
}

async function countAndVerify(deps: DirectoryDeps, { person, password }: PasswordTry, source: Source): Promise<Outcome<FoundPerson>> {
  const admission = await countAttempt(deps.pool, source);
  if (admission !== 'admitted') {
    const { code, retryAfterSeconds } = admission;
    return refused({ ...refuse(code, REFUSALS[code]), retryAfterSeconds });
  }
  const verifier = await readPassword(deps.pool, person?.id ?? NOBODY, person?.passwordFingerprint ?? null);
  const right = await verifyPassword(password, verifier ?? nobody(scryptCost(deps.config)));
  if (!right || !person) return refused(refuse('invalid_credentials', 'Incorrect e-mail address or password.'));
  await forgetFailures(deps.pool, source);
  return done(person);
}

/** Whether a password is still the person's, for an operator who has it from a file: no failure is counted, so it answers nobody outside. */
export async function isPasswordOf(deps: Pick<DirectoryDeps, 'pool'>, person: FoundPerson, password: string): Promise<boolean> {
  const verifier = await readPassword(deps.pool, person.id, person.passwordFingerprint);
  return verifier !== null && verifyPassword(password, verifier);
}
