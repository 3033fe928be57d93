import { type ConfigOf, declareSettings } from '@countersign/config';
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
      meaning: 'Key that seals the webhook secrets in the database: 64 hex digits (32 bytes). Losing it loses them.',
    },
    secretsKeyPrevious: {
      env: 'SECRETS_KEY_PREVIOUS',
      type: 'list',
      secret: true,
      default: [],
      meaning: 'Earlier values of SECRETS_KEY: they open what they sealed, the current one seals.',
    },
    publicUrl: {
      env: 'PUBLIC_URL',
      type: 'url',
      default: 'http://127.0.0.1:3100',
      meaning: 'Address people reach the inbox at; links in invitations begin with it.',
    },
    passwordCost: {
      env: 'PASSWORD_COST',
      type: 'int',
      default: 15,
      min: 10,
      max: 20,
      meaning: 'Cost of a password check: binary logarithm of scrypt N (r = 8, p = 3). 15 takes 32 MB and about a quarter of a second.',
    },
    signInLinkLifetime: {
      env: 'SIGN_IN_LINK_LIFETIME',
      type: 'duration',
      default: '15m',
      min: '1m',
      max: '1d',
      meaning: 'How long a one-time sign-in link is good.',
    },
  },
  [
    (config) =>
      config.secretsKeyPrevious.every((key) => /^[0-9a-f]{64}$/.test(key))
        ? undefined
        : 'SECRETS_KEY_PREVIOUS must be a comma-separated list of keys of 64 hex digits each.',
  ],
);

export type DirectoryConfig = ConfigOf<typeof DIRECTORY_SETTINGS.settings>;

/** Keys to seal and open with; the first one seals. */
export const sealingKeys = (config: DirectoryConfig): Buffer[] =>
  [config.secretsKey, ...config.secretsKeyPrevious].map((key) => Buffer.from(key, 'hex'));

export const scryptCost = (config: DirectoryConfig): ScryptCost => ({ ln: config.passwordCost, r: 8, p: 3 });
