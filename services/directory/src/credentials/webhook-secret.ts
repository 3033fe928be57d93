import { randomBytes } from 'node:crypto';

/** A project's signing secret: 64 lowercase hex digits (HRP §1.6). */
export const WEBHOOK_SECRET = /^[0-9a-f]{64}$/;

export const newWebhookSecret = (): string => randomBytes(32).toString('hex');

/** The same secret for Standard Webhooks: `whsec_` and base64 of the bytes the hex digits stand for (decision 11). */
export const standardSecret = (secret: string): string => `whsec_${Buffer.from(secret, 'hex').toString('base64')}`;
