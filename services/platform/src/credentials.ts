import { join } from 'node:path';
import type { KeyStanding } from '@countersign/directory/administration';
import { CannotStart } from './cannot-start.js';
import { readIfThere, writePrivate } from './data/files.js';

/** What a developer needs to try a local server: `DATA_DIR/credentials.json`, readable by its owner only. */
export interface Credentials {
  url: string;
  project_id: string;
  /** Of the demo agent. */
  api_key: string;
  /** Why that key is refused, where an admin saw to it: it is not replaced unasked, and may be enabled again. */
  api_key_refused?: Exclude<KeyStanding, 'active'>;
  /** Hex text of the project's webhook secret, as HRP's signatures use it. */
  webhook_secret: string;
  /** A person who may decide; only while the server listens on loopback. */
  reviewer?: { email: string; password: string };
  /** That person's password was changed since it was made for this file: it is not known here, and not replaced unasked. */
  password_changed?: true;
}

const FILE = 'credentials.json';

export const credentialsPath = (dataDir: string): string => join(dataDir, FILE);

export function writeCredentials(dataDir: string, credentials: Credentials): void {
  const { url, project_id, api_key, api_key_refused, webhook_secret, reviewer, password_changed } = credentials;
  const content = { url, project_id, api_key, api_key_refused, webhook_secret, reviewer, password_changed };
  writePrivate(credentialsPath(dataDir), `${JSON.stringify(content, null, 2)}\n`);
}

/** Null when there are none. @throws {CannotStart} when the file is damaged. */
export function readCredentials(dataDir: string): Credentials | null {
  const path = credentialsPath(dataDir);
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const found = JSON.parse(text) as Credentials;
    if ([found.url, found.project_id, found.api_key, found.webhook_secret].every((value) => typeof value === 'string')) return found;
  } catch {
    // Answered below, as any other content that is not credentials.
  }
  throw new CannotStart(`${path} is damaged. Delete it; the next start recreates it.`);
}
