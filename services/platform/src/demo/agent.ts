import type { Review } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import type { Credentials } from '../credentials.js';
import { Server, ServerError } from './server.js';
import { waitForChange } from './wait-for-change.js';
import { type Delivery, receiveWebhooks, type WebhookReceiver } from './webhook-receiver.js';

/** The server sends within milliseconds; its first retry follows after seconds. */
const WEBHOOK_MS = 15_000;

export const DRAFT = {
  to: 'maya.lindqvist@example.com',
  subject: 'Your refund for order 10442',
  body: [
    'Hi Maya,',
    '',
    'thank you for your patience. We have refunded **EUR 129.00** for order 10442 to the card you paid with.',
    'It should reach you within five working days.',
    '',
    'Kind regards,',
    'the support team',
  ].join('\n'),
};

/**
 * A small agent that may not send an e-mail on its own: it asks, waits, and sends exactly what the person approved, once.
 * @returns what came of it.
 */
export async function runAgent(credentials: Credentials, say: (line: string) => void): Promise<'sent' | 'rejected' | 'expired'> {
  const server = new Server(credentials.url, credentials.api_key);
  const webhooks = await receiveWebhooks(credentials.webhook_secret, say);
  try {
    let review = await ask(server, webhooks.url, say);
    say(`Asked for a review of an e-mail to ${DRAFT.to}.`);
    say(`→ Decide it here: ${new URL(`/reviews/${review.id}`, credentials.url)}`);
    for (;;) {
      review = await waitForChange(server, review, say);
      if (review.status === 'awaiting_iteration') {
        await told(webhooks, review, 'review.retried');
        say(`Changes were requested: ${review.feedback ?? '(no feedback)'}`);
        review = await server.resubmit(review.id, revise(review), review.current_version + 1);
        say(`Asked again, version ${review.current_version}. → ${new URL(`/reviews/${review.id}`, credentials.url)}`);
      } else if (review.status === 'decided') {
        return await conclude(server, webhooks, review, say);
      } else if (review.status === 'expired') {
        say('The deadline passed without a decision. Nothing was sent.');
        return 'expired';
      }
    }
  } finally {
    await webhooks.close();
  }
}

/** With a webhook to this machine, where the server sends such. */
async function ask(server: Server, callback_url: string, say: (line: string) => void): Promise<Review> {
  const request = { template: 'email-draft', payload: DRAFT, priority: 'high' as const };
  try {
    return await server.request({ ...request, callback_url });
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== 'invalid_callback_url') throw error;
    say('This server may not send webhooks to this machine (WEBHOOK_ALLOW_NETWORKS). Continuing without one.');
    return server.request(request);
  }
}

/** A language model would write this; the demo only shows that the feedback reached the agent. */
function revise(review: Review): Record<string, unknown> {
  const { body } = review.payload as { body: string };
  return { ...review.payload, body: `${body}\n\nP.S. ${review.feedback ?? ''}`.trimEnd() };
}

/** The webhook of what the server was just seen to say, so that its line comes first; null where none is sent, or it does not come. */
async function told(webhooks: WebhookReceiver, review: Review, wanted: string): Promise<Delivery | null> {
  if (review.callback_url === null) return null;
  return webhooks.next(({ event, body }) => event === wanted && body.review_id === review.id, WEBHOOK_MS);
}

async function conclude(
  server: Server,
  webhooks: WebhookReceiver,
  review: Review,
  say: (line: string) => void,
): Promise<'sent' | 'rejected'> {
  const delivery = await told(webhooks, review, 'review.decided');
  if (review.callback_url !== null && !delivery) say('The webhook has not arrived yet; the decision was read from the server instead.');
  if (delivery && delivery.body.approved_digest !== review.approved_digest)
    throw new Error('The webhook and the server disagree on what was approved.');

  if (review.approved_value === null) {
    say(`Rejected by ${review.decided_by}: ${review.feedback ?? '(no feedback)'}`);
    say('Nothing was sent.');
    return 'rejected';
  }
  const value = review.approved_value;
  say(`Approved by ${review.decided_by}${review.was_edited ? ', with edits' : ''}.`);
  if (digest(value) !== review.approved_digest) throw new Error('The approved value does not match its digest.');
  const redemption = await server.redeem(review.id, { value, executor: 'Demo agent' });
  say(`✓ Approval redeemed for exactly these bytes (${redemption.digest.slice(0, 23)}…). It cannot be used again.`);
  say(`\n  To: ${value.to}\n  Subject: ${value.subject}\n\n${indent(String(value.body))}\n`);
  await server.recordExecution(review.id, { redemption_id: redemption.id, status: 'succeeded', output_digest: digest(value) });
  say('✓ Sent (to this screen); the execution was recorded.');
  return 'sent';
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
