/** Words that may be read as other words: hosts beyond ASCII, and letters of two alphabets in one word (`pаypal` with a Cyrillic а). */

const HOST = /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*\.\p{L}[\p{L}\p{M}\p{N}-]+/gu;
const WORD = /[\p{L}\p{M}]{4,}/gu;
const ALPHABETS = {
  Latin: /\p{sc=Latn}/u,
  Cyrillic: /\p{sc=Cyrl}/u,
  Greek: /\p{sc=Grek}/u,
  Armenian: /\p{sc=Armn}/u,
  Cherokee: /\p{sc=Cher}/u,
};
const ASCII = /^[\x20-\x7e]*$/;

/** Sentences about the words of a text that may be read as others; each word once. */
export function lookalikesOf(text: string): string[] {
  const told = new Map<string, string>();
  for (const [host] of text.matchAll(HOST)) {
    const name = ASCII.test(host) ? '' : (URL.parse(`http://${host}`)?.hostname ?? '');
    if (name.includes('xn--')) told.set(host, `“${host}” is actually the host ${name}`);
  }
  for (const [word] of text.matchAll(WORD)) {
    const alphabets = Object.entries(ALPHABETS).flatMap(([name, letters]) => (letters.test(word) ? [name] : []));
    if (alphabets.length > 1 && ![...told.keys()].some((host) => host.includes(word))) {
      told.set(word, `“${word}” mixes letters from several alphabets: ${alphabets.join(', ')}`);
    }
  }
  return [...told.values()];
}
