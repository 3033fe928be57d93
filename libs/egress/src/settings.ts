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
      meaning:
        'Private or reserved networks that webhooks may reach, as comma-separated CIDR ranges. All other private and reserved addresses are blocked.',
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
