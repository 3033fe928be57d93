import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { receiveWebhooks, type WebhookReceiver } from './webhook-receiver.js';

const SECRET = 'ab'.repeat(32);
const BODY = '{"type":"review.decided","review_id":"rev_1"}';
const anyDelivery = () => true;

let receiver: WebhookReceiver;
const said: string[] = [];
beforeEach(async () => {
  said.length = 0;
  receiver = await receiveWebhooks(SECRET, (line) => said.push(line));
});
afterEach(() => receiver.close());

async function deliver(options: { id?: string; secret?: string; at?: number; sent?: string } = {}): Promise<number> {
  const at = options.at ?? Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', options.secret ?? SECRET)
    .update(`${at}.${BODY}`)
    .digest('hex');
  const response = await fetch(receiver.url, {
    method: 'POST',
    headers: {
      'x-webhook-event': 'review.decided',
      'x-webhook-id': options.id ?? 'whd_1',
      'x-webhook-signature-v2': `t=${at},v1=${signature}`,
    },
    body: options.sent ?? BODY,
  });
  return response.status;
}

describe('the demo agent’s webhook receiver', () => {
  it('keeps a signed delivery for whoever asks later, and wakes whoever already waits', async () => {
    const waiting = receiver.next(anyDelivery, 5_000);
    expect(await deliver()).toBe(204);
    const expected = { event: 'review.decided', body: { type: 'review.decided', review_id: 'rev_1' } };
    expect(await waiting).toEqual(expected);
    expect(await receiver.next(anyDelivery, 5_000)).toEqual(expected);
  });

  it('takes a delivery that is sent twice for one', async () => {
    expect([await deliver(), await deliver()]).toEqual([204, 204]);
    expect(said).toHaveLength(1);
  });

  it.each([
    ['signed with another secret', { secret: 'cd'.repeat(32) }],
    ['with another body than was signed', { sent: BODY.replace('rev_1', 'rev_2') }],
    ['recorded ten minutes ago', { at: Math.floor(Date.now() / 1000) - 600 }],
  ])('refuses and forgets a delivery %s', async (_, options) => {
    expect(await deliver(options)).toBe(401);
    expect(await receiver.next(anyDelivery, 1)).toBeNull();
  });
});
