import { scryptCost } from '../config.js';
import { nobody, verifyPassword } from '../credentials/password.js';
import { readPassword } from '../credentials/rows.js';
import type { DirectoryDeps } from '../deps.js';
import type { FoundPerson } from '../lookups/people.js';
import { done, type Outcome, refuse, refused } from '../refusals.js';
import { countAttempt, forgetFailures } from './attempts.js';
import type { Client } from './client.js';

/**
 * The one place where a password is checked: counted first, then verified, at the same cost whether the person exists or not (W2, O3, O4).
 * Refuses `account_locked` (with the seconds to wait) or `invalid_credentials`.
 */
export async function checkPassword(
  deps: DirectoryDeps,
  who: { email: string; person: FoundPerson | null; password: string; client: Client },
): Promise<Outcome<FoundPerson>> {
  const { email, person, password, client } = who;
  const attempt = await countAttempt(deps.pool, email, person?.id ?? null, client);
  if (attempt.lockedSeconds > 0) {
    const refusal = refuse('account_locked', 'Too many failed sign-ins from here. Wait, or sign in from a device you have used before.');
    return refused({ ...refusal, retryAfterSeconds: attempt.lockedSeconds });
  }
  const verifier = person && (await readPassword(deps.pool, person.id, person.passwordFingerprint));
  const right = await verifyPassword(password, verifier ?? nobody(scryptCost(deps.config)));
  if (!right || !person) return refused(refuse('invalid_credentials', 'The e-mail address and password do not match.'));
  await forgetFailures(deps.pool, attempt);
  return done(person);
}
