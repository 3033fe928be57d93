/** What agents and people ask of the product, or of what is held against it, in the figures of HTTP. */
import { randomUUID } from 'node:crypto';
import type { Access } from '../stage/product.js';
import type { Answer, Client } from './client.js';

const PAYLOAD = {
  to: 'ann@customer.example',
  subject: 'Your order',
  body: `Dear Ann,\n\n**it is on its way.** ${'It took a little longer. '.repeat(12)}`,
};

export const reviewBody = (more: Record<string, unknown>): Record<string, unknown> => ({
  template: 'email-draft',
  payload: PAYLOAD,
  ...more,
});

/** A request for a review with an idempotency key. @returns the id of the review. */
export async function createReview(client: Client, { key }: Pick<Access, 'key'>, more: Record<string, unknown> = {}): Promise<string> {
  const { body } = await client.succeed('POST', '/api/v1/reviews', key, reviewBody({ idempotency_key: randomUUID(), ...more }));
  return (JSON.parse(body) as { id: string }).id;
}

/** A person's approval. */
export const approve = (client: Client, { session }: Pick<Access, 'session'>, id: string): Promise<Answer> =>
  client.succeed('POST', `/api/v1/reviews/${id}/action`, session, { action_id: 'approve' });
