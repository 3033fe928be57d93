import { message, type Static, Type } from '../schema.js';

/** Headers of a webhook (HRP §7.2, decision 11). The HRP signatures use the secret's text as key, the Standard one its bytes. */
export const WebhookHeaders = message(
  'WebhookHeaders',
  Type.Object({
    'Content-Type': Type.Unsafe<'application/json'>({ type: 'string', const: 'application/json' }),
    'User-Agent': Type.String({ pattern: '^Countersign/' }),
    'X-Webhook-Event': Type.String({ description: 'Event name; repeated in the body as type or event.' }),
    'X-Webhook-Id': Type.String({
      pattern: '^whd_',
      description: 'Delivery id, the same on every attempt; use it to deduplicate.',
    }),
    'X-Request-Id': Type.Optional(Type.String({ description: 'Of the request that caused it.' })),
    'X-Webhook-Signature': Type.String({ pattern: '^sha256=[0-9a-f]{64}$', description: 'HMAC-SHA256 of the body.' }),
    'X-Webhook-Signature-V2': Type.String({
      pattern: '^t=\\d+,v1=[0-9a-f]{64}$',
      description: 'HMAC-SHA256 of "<t>." and the body; t is the time of this attempt in Unix seconds, good for 300 s.',
    }),
    'webhook-id': Type.String(),
    'webhook-timestamp': Type.String({ pattern: '^\\d+$' }),
    'webhook-signature': Type.String({
      pattern: '^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$',
      description: 'Standard Webhooks: base64 HMAC-SHA256 of "<id>.<timestamp>." and the body, one for each live secret.',
    }),
  }),
);
export type WebhookHeaders = Static<typeof WebhookHeaders>;
