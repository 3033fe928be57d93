/**
 * The three signatures of a delivery (HRP §7.2, decision 11). A wire format: every byte here is somebody's check.
 *
 * Two readings of one secret. A project's secret is 64 hex characters. The two HRP headers use that text itself as the key; Standard
 * Webhooks uses the 32 bytes the text stands for, which its users hold as `whsec_` and base64.
 *
 * While a secret rotates, the single-valued HRP headers are signed with the active one until it is replaced; the Standard header, a list,
 * carries both, so that receivers change over whenever they like.
 */
import { createHmac } from 'node:crypto';

export interface SigningSecrets {
  /** 64 lowercase hex characters. */
  active: string;
  /** The one that takes over; null when no rotation is under way. */
  pending: string | null;
}

export interface SignedMessage {
  /** `whd_…`, the same on every attempt. */
  id: string;
  /** Unix seconds of this attempt; receivers allow 300 s. */
  timestamp: number;
  /** The exact bytes sent. */
  body: Buffer;
}

export function signatureHeaders(message: SignedMessage, secrets: SigningSecrets): Record<string, string> {
  const { id, timestamp, body } = message;
  const standard = [secrets.active, ...(secrets.pending === null ? [] : [secrets.pending])].map(
    (secret) => `v1,${hmac(Buffer.from(secret, 'hex'), `${id}.${timestamp}.`, body).toString('base64')}`,
  );
  return {
    'X-Webhook-Signature': `sha256=${hmac(secrets.active, '', body).toString('hex')}`,
    'X-Webhook-Signature-V2': `t=${timestamp},v1=${hmac(secrets.active, `${timestamp}.`, body).toString('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}
