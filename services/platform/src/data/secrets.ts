import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CannotStart } from '../cannot-start.js';
import { readIfThere, writePrivate } from './files.js';

/** Keys a single machine makes for itself at the first start; a deployment sets them by environment instead. */
export interface PlatformSecrets {
  /** Signs the identity the gateway hands to services. Hex of 32 bytes. */
  identity_key: string;
  /** Seals stored secrets, such as the webhook secret. Hex of 32 bytes. */
  sealing_key: string;
}

const FILE = 'secrets.json';

/**
 * @param fresh whether the directory holds no data yet; only then are keys made, because data sealed with a lost key cannot be opened.
 * @throws {CannotStart} when the file is missing from a directory with data, or unreadable.
 */
export function platformSecrets(dataDir: string, fresh: boolean): PlatformSecrets {
  const path = join(dataDir, FILE);
  const text = readIfThere(path);
  if (text === null) {
    if (!fresh) {
      throw new CannotStart(
        `${path} is missing, and the secrets stored in this data directory cannot be opened without it: restore it from a backup, or start with another DATA_DIR.`,
      );
    }
    const secrets = { identity_key: randomBytes(32).toString('hex'), sealing_key: randomBytes(32).toString('hex') };
    writePrivate(path, `${JSON.stringify(secrets, null, 2)}\n`);
    return secrets;
  }
  try {
    const secrets = JSON.parse(text) as PlatformSecrets;
    if ([secrets.identity_key, secrets.sealing_key].every((key) => /^[0-9a-f]{64}$/.test(key))) return secrets;
  } catch {
    // Answered below: not JSON and not these keys are the same to the reader.
  }
  throw new CannotStart(`${path} does not hold the keys it was written with: restore it from a backup, or start with another DATA_DIR.`);
}
