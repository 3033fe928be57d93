import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CannotStart } from '../cannot-start.js';
import { readIfThere, writePrivate } from './files.js';

/** What a single machine makes for itself at the first start; a deployment sets it by environment instead. */
export interface PlatformSecrets {
  /** Seals the secrets in the database, such as webhook secrets: SECRETS_KEY. Hex of 32 bytes. */
  secrets_key: string;
}

const FILE = 'secrets.json';

/** The secrets of a data directory that a server has prepared; null when it has none. @throws {CannotStart} when the file is damaged. */
export function readSecrets(dataDir: string): PlatformSecrets | null {
  const path = join(dataDir, FILE);
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    const secrets = JSON.parse(text) as PlatformSecrets;
    if (/^[0-9a-f]{64}$/.test(secrets.secrets_key)) return secrets;
  } catch {
    // Answered below: not JSON and not this key are the same to the reader.
  }
  throw new CannotStart(`${path} does not contain a valid key. Restore it from a backup, or set DATA_DIR to another directory.`);
}

/**
 * @param fresh whether the directory holds no data yet; only then is a key made, because what a lost one sealed cannot be opened.
 * @throws {CannotStart} when the file is missing from a directory with data, or unreadable.
 */
export function platformSecrets(dataDir: string, fresh: boolean): PlatformSecrets {
  const known = readSecrets(dataDir);
  if (known) return known;
  const path = join(dataDir, FILE);
  if (!fresh) {
    throw new CannotStart(
      `${path} is missing; the secrets in this data directory cannot be decrypted without it. Restore it from a backup, or set DATA_DIR to another directory.`,
    );
  }
  const secrets = { secrets_key: randomBytes(32).toString('hex') };
  writePrivate(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}
