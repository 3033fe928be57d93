import { type ConfigOf, declareSettings } from '@countersign/config';
import type { INBOX_SETTINGS } from '@countersign/service-host';
import type { ScryptCost } from './credentials/password.js';

/** The directory's settings. The lengths that are part of the contract (sessions 7 d and 24 h, invitations 7 d, the ladder) are constants. */
export const DIRECTORY_SETTINGS = declareSettings(
  'Directory',
  {
    secretsKey: {
      env: 'SECRETS_KEY',
      type: 'string',
      secret: true,
      pattern: /[0-9a-f]{64}/,
      meaning: 'Key that encrypts webhook secrets in the database: 64 hex digits (32 bytes). If it is lost, the secrets are lost.',
    },
    secretsKeyPrevious: {
      env: 'SECRETS_KEY_PREVIOUS',
      type: 'list',
      secret: true,
      default: [],
      meaning: 'Previous values of SECRETS_KEY, used only to decrypt. New secrets are encrypted with the current one.',
    },
    passwordCost: {
      env: 'PASSWORD_COST',
      type: 'int',
      default: 15,
      min: 10,
      max: 20,
      meaning: 'Cost of password hashing: log2 of scrypt N (r = 8, p = 3). 15 uses 32 MB and about 250 ms.',
    },
    signInLinkLifetime: {
      env: 'SIGN_IN_LINK_LIFETIME',
      type: 'duration',
      default: '15m',
      min: '1m',
      max: '1d',
      meaning: 'Lifetime of a one-time sign-in link.',
    },
  },
  [
    (config) =>
      config.secretsKeyPrevious.every((key) => /^[0-9a-f]{64}$/.test(key))
        ? undefined
        : 'SECRETS_KEY_PREVIOUS must be a comma-separated list of 64-digit hex keys.',
  ],
);

export type DirectoryConfig = ConfigOf<typeof DIRECTORY_SETTINGS.settings> & ConfigOf<typeof INBOX_SETTINGS.settings>;

/** Keys to seal and open with; the first one seals. */
export const sealingKeys = (config: DirectoryConfig): Buffer[] =>
  [config.secretsKey, ...config.secretsKeyPrevious].map((key) => Buffer.from(key, 'hex'));

export const scryptCost = (config: DirectoryConfig): ScryptCost => ({ ln: config.passwordCost, r: 8, p: 3 });
