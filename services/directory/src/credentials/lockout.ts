/**
 * The ladder after failed sign-ins (hrp.md §1.7): 5 → 15 minutes, 10 → 1 hour, 20 → 24 hours.
 *
 * The number of failures is kept per account **and source**, so a stranger's failures never keep a person out:
 * O1 a source is the network the attempt comes from (IPv4 /24, IPv6 /64), or the device when it presents a token that an earlier
 *    sign-in of the same account left there;
 * O2 a stranger cannot present that token, so whatever they do, from whichever network, the known device has its own count;
 * O3 an attempt is counted before the password is looked at, so parallel guesses cannot outrun the count; success forgets it;
 * O4 an unknown e-mail is counted and locked like a known one.
 * A guesser with many networks gets 20 guesses a day from each; the gateway's limit per address, the cost of scrypt and the refusal of
 * common passwords stand against that, and nothing a stranger does raises the count of another source.
 */
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds an account stays closed to a source whose n-th failure this is; 0 = it may try again at once. */
export function lockSeconds(failures: number): number {
  if (failures >= 20) return 24 * HOUR;
  if (failures < 5 || failures % 5 !== 0) return 0;
  return failures < 10 ? 15 * MINUTE : HOUR;
}

/** After this long without a failure the count begins again. */
export const FORGET_AFTER_SECONDS = 7 * 24 * HOUR;
