const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/** The first key that an object of a JSON text has twice, however the two are escaped; null without one. The text has to be JSON. */
export function duplicateKey(text: string): string | null {
  const open: Set<string>[] = [];
  let string = '""';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') string = token;
    else {
      // Outside of strings a colon stands only after a key.
      const key = JSON.parse(string) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}
