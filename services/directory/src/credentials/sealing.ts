import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * Secrets at rest (decision K1): AES-256-GCM under a key from the configuration.
 *
 * Layout: version (1 byte, 0x01), key id (4 bytes: the start of SHA-256 of the key), nonce (12), tag (16), ciphertext.
 * L1 the context is authenticated: a sealed value moved to another row does not open.
 * L2 the first key seals, every configured key opens, so the configuration's key can be changed without a moment of downtime.
 */
const VERSION = 1;
const HEADER = 1 + 4 + 12 + 16;

const keyId = (key: Buffer): Buffer => createHash('sha256').update(key).digest().subarray(0, 4);

/** @param keys 32 bytes each. @param context Names the row the value belongs to. */
export function seal(keys: readonly Buffer[], context: string, value: string): Buffer {
  const key = keys[0];
  if (!key) throw new Error('No encryption key is configured. Set SECRETS_KEY.');
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), keyId(key), nonce, cipher.getAuthTag(), text]);
}

/** @throws {SealBroken} when no configured key opens the value, or it was changed or moved. */
export function unseal(keys: readonly Buffer[], context: string, sealed: Buffer): string {
  if (sealed.length < HEADER || sealed[0] !== VERSION) throw new SealBroken(`The encrypted value of ${context} has an unknown format.`);
  const id = sealed.subarray(1, 5);
  const key = keys.find((candidate) => keyId(candidate).equals(id));
  if (!key) {
    throw new SealBroken(
      `The secret of ${context} was encrypted with key ${id.toString('hex')}, which is not configured. Add it to SECRETS_KEY_PREVIOUS.`,
    );
  }
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(5, 17));
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(sealed.subarray(17, HEADER));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEADER)), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SealBroken(`The secret of ${context} cannot be decrypted: it was changed, or belongs to another row.`, cause);
  }
}

/** A sealed value that cannot be opened. Not the caller's fault: an operator has to act. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
