/**
 * What was typed and not sent, kept in this tab across reloads and a session that ended: the server's draft holds edits only, and only those
 * it could take.
 */
import type { Typed } from './desk.js';
import { hasTyped } from './desk.js';

const PREFIX = 'countersign.unsent.';

interface Kept extends Typed {
  /** Whose it is: nobody else who signs in here gets to see it. */
  person: string;
}

export class UnsentStore {
  constructor(private readonly storage: Storage = sessionStorage) {}

  keep(review: string, person: string, { edits, feedback }: Typed): void {
    try {
      if (hasTyped({ edits, feedback })) this.storage.setItem(PREFIX + review, JSON.stringify({ person, edits, feedback } satisfies Kept));
      else this.storage.removeItem(PREFIX + review);
    } catch {
      // A full or forbidden storage: what was typed still stands on the page.
    }
  }

  read(review: string, person: string): Typed | null {
    try {
      const kept = JSON.parse(this.storage.getItem(PREFIX + review) ?? 'null') as Kept | null;
      return kept?.person === person ? { edits: kept.edits, feedback: kept.feedback } : null;
    } catch {
      return null;
    }
  }

  clear(): void {
    for (const key of Object.keys(this.storage)) if (key.startsWith(PREFIX)) this.storage.removeItem(key);
  }
}
