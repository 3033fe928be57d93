/**
 * What failed sign-ins cost, and whom.
 *
 * A stranger who knows an e-mail address can fail for it as often as they like, from the same address as the person even. So:
 * O1 A source that only the person can present has a count of its own and no other concerns it: a device that an earlier sign-in of theirs
 *    marked (the cookie is a random token whose hash is kept for that person), or a session of theirs. 5 failures close it for 15 minutes,
 *    10 for an hour, 20 for a day: that is the ladder against a stolen device.
 * O2 Whoever presents none is counted per account and address (IPv4, or IPv6 /64): 5 failures close the account to that address for 15
 *    minutes and never longer. What is refused is not counted, so hammering does not prolong it.
 * O3 An address that failed more than 50 times lately, for whatever accounts, has one guess for each account in 15 minutes instead of five.
 *    As such it is never refused: who shares it with a guesser still has that one. Its passwords are checked one at a time in a queue of their
 *    own, so that a flood from there delays itself and nobody else.
 * O4 From all addresses together an account takes 60 guesses and then one every two minutes, so nobody gains by having many addresses. One
 *    address cannot use that up (O2 gives it 20 an hour, this 30); a botnet can, and then a person has to come from a known device or by link.
 * O5 One-time links are 256 random bits: they never come here. An operator makes one, or clears all counts of an account.
 * O6 An attempt is counted before the password is looked at, so parallel guesses cannot outrun the count; success gives it back.
 * O7 An e-mail address nobody has is counted and refused like a known one.
 */
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds a source of its own (O1) is closed whose n-th failure this is; 0 = it may try again at once. */
export function ownLockSeconds(failures: number): number {
  if (failures >= 20) return 24 * HOUR;
  if (failures < 5 || failures % 5 !== 0) return 0;
  return failures < 10 ? 15 * MINUTE : HOUR;
}

/** The same for an account at an address (O2, O3). @param addressLevel recent failures of the address, this one included. */
export function addressLockSeconds(failures: number, addressLevel: number): number {
  const guesses = addressLevel > ADDRESS.bound ? 1 : 5;
  return failures % guesses === 0 ? 15 * MINUTE : 0;
}

/** After this long without a failure the count of a source begins again. */
export const FORGET_OWN_SECONDS = 7 * 24 * HOUR;
export const FORGET_ADDRESS_SECONDS = 15 * MINUTE;

/** A level that rises by one with each failure and falls by `perSecond`. */
export interface Level {
  bound: number;
  perSecond: number;
}

export const ADDRESS: Level = { bound: 50, perSecond: 50 / (15 * MINUTE) };
export const ACCOUNT: Level = { bound: 60, perSecond: 1 / (2 * MINUTE) };

/** Seconds until one more fits in a level; 0 = now. */
export const waitSeconds = (level: number, { bound, perSecond }: Level): number => Math.max(0, (level + 1 - bound) / perSecond);
