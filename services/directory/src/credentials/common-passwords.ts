/**
 * A small embedded stand-in for a breach list: no network is asked about a password.
 * Words that carry most of the common passwords of twelve characters and more once digits and punctuation around them are gone.
 */
const STEMS = new Set(
  `password passwort motdepasse contrasena senha passw0rd pass passphrase secret geheim
   admin administrator administrador root superuser sysadmin manager operator login user username guest test testing tester
   welcome willkommen bienvenue letmein letmeinnow opensesame changeme changeit changemenow default temporary temp
   qwerty qwertyuiop qwertyuio qwertz qwertzuiop azerty azertyuiop asdf asdfgh asdfghjkl asdfghjklqwerty zxcvbn zxcvbnm qwertyasdfgh
   qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qazwsx qazwsxedc qazwsxedcrfv zaqxsw
   iloveyou iloveyousomuch loveyou lovely sunshine princess monkey dragon football baseball basketball superman batman spiderman
   pokemon starwars trustno trustnoone whatever shadow master mustang michael jordan michelle jennifer charlie andrew jessica
   computer internet google facebook microsoft linkedin samsung iphone android windows freedom liverpool chelsea arsenal barcelona
   correcthorsebatterystaple correcthorse horsebattery januaryfebruary summer winter spring autumn monday friday
   countersign approve approver approved reviewer review humanreview company business enterprise corporate`
    .split(/\s+/)
    .filter(Boolean),
);

const RUNS = ['01234567890123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiopasdfghjklzxcvbnm', 'qwertzuiopasdfghjklyxcvbnm'];
const LOOKALIKES: Record<string, string> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' };

const reversed = (text: string): string => [...text].reverse().join('');
const unmasked = (text: string): string => text.replace(/[0134578@$!]/g, (c) => LOOKALIKES[c] ?? c);
const lettersOnly = (text: string): string => text.replace(/[^a-z]/g, '');

/** The whole text is one run of the keyboard, the alphabet or the digits, in either direction. */
const isRun = (text: string): boolean => RUNS.some((run) => run.includes(text) || reversed(run).includes(text));

/** The shortest piece whose repetition gives the text: `abcabcabc` → `abc`. */
function period(text: string): string {
  for (let length = 1; length <= text.length / 2; length++) {
    const piece = text.slice(0, length);
    if (piece.repeat(Math.ceil(text.length / length)).slice(0, text.length) === text) return piece;
  }
  return text;
}

/** True when a list of common passwords would hold it: a common word dressed up, a run, a short piece repeated, few distinct characters. */
export function isCommonPassword(password: string): boolean {
  const text = password.normalize('NFKC').toLowerCase();
  const piece = period(text);
  if (new Set(text).size < 5 || (piece.length < text.length && piece.length <= 6) || isRun(text)) return true;
  // Digits and punctuation alone: birthdays, card and telephone numbers.
  if (/^[ -@[-`{-~]+$/.test(text)) return true;
  const core = text.replace(/^[^a-z]+|[^a-z]+$/g, '');
  const words = [text, unmasked(text), core, unmasked(core)].map(lettersOnly);
  return words.some((word) => STEMS.has(word) || STEMS.has(period(word)));
}
