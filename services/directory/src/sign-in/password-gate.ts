import { scryptCost } from '../config.js';
import { nobody, verifyPassword } from '../credentials/password.js';
import { readPassword } from '../credentials/rows.js';
import { passwordTurnstile } from '../credentials/turnstile.js';
import type { DirectoryDeps } from '../deps.js';
import type { FoundPerson } from '../lookups/people.js';
import { NOBODY } from '../person/nobody.js';
import { done, type Outcome, refuse, refused } from '../refusals.js';
import { countAttempt, forgetFailures } from './attempts.js';
import type { Client } from './client.js';

export interface PasswordTry {
  email: string;
  /** Whom the address belongs to; null for nobody. */
  person: FoundPerson | null;
  password: string;
  client: Client;
}

/**
 * The one place where a password is checked: counted first, then verified, at the same cost whether the person exists or not (W2, O3, O4).
 * Refuses `account_locked` (with the seconds to wait) or `invalid_credentials`.
 */
export async function checkPassword(deps: DirectoryDeps, who: PasswordTry): Promise<Outcome<FoundPerson>> {
  return passwordTurnstile.run(() => countAndVerify(deps, who));
}

async function countAndVerify(deps: DirectoryDeps, { email, person, password, client }: PasswordTry): Promise<Outcome<FoundPerson>> {
  const attempt = await countAttempt(deps.pool, email, person?.id ?? null, client);
  if (attempt.lockedSeconds > 0) {
    const refusal = refuse('account_locked', 'Too many failed sign-ins from here. Wait, or sign in from a device you have used before.');
    return refused({ ...refusal, retryAfterSeconds: attempt.lockedSeconds });
  }
  const verifier = await readPassword(deps.pool, person?.id ?? NOBODY, person?.passwordFingerprint ?? null);
  const right = await verifyPassword(password, verifier ?? nobody(scryptCost(deps.config)));
  if (!right || !person) return refused(refuse('invalid_credentials', 'The e-mail address and password do not match.'));
  await forgetFailures(deps.pool, attempt);
  return done(person);
}
