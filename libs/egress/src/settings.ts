import { declareSettings } from '@countersign/config';
import { parseNetwork } from './networks.js';

/** Shared by every service that checks or calls an address a client named. */
export const EGRESS_SETTINGS = declareSettings(
  'Outgoing requests',
  {
    allowNetworks: {
      env: 'WEBHOOK_ALLOW_NETWORKS',
      type: 'list',
      default: [],
      meaning: 'Private or reserved networks that callbacks may reach, in CIDR form, comma-separated; all others of them are refused.',
    },
  },
  [
    (config) => {
      const mistakes = config.allowNetworks.flatMap((text) => {
        try {
          parseNetwork(text);
          return [];
        } catch (error) {
          return [error instanceof Error ? error.message : String(error)];
        }
      });
      return mistakes.length > 0 ? `WEBHOOK_ALLOW_NETWORKS: ${mistakes.join(' ')}` : undefined;
    },
  ],
);
