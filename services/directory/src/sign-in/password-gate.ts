import { scryptCost } from '../config.js';
import { nobody, verifyPassword } from '../credentials/password.js';
import { readPassword } from '../credentials/rows.js';
import { inTurn } from '../credentials/turnstile.js';
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

/**
 * The one place where a password is checked: counted first, then verified, at the same cost whether the person exists or not (W2, O6, O7).
 * Refuses `account_locked` or `too_many_attempts` (with the seconds to wait), or `invalid_credentials`.
 */
export async function checkPassword(deps: DirectoryDeps, who: PasswordTry): Promise<Outcome<FoundPerson>> {
  const source = await sourceOf(deps.pool, who.email, who.person?.id ?? null, who);
  return inTurn(deps, source.kind, () => countAndVerify(deps, who, source));
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
