/** What the scenarios are made of. */
import { createHmac } from 'node:crypto';
import type { AuditEvent } from '@countersign/contracts';
import { until } from '@countersign/platform/fixture';
import { type Received, verifyStandard } from '@countersign/testing';
import { expect } from '@jest/globals';
import type { Server } from '../server.js';

export type Moment = () => Promise<void>;
export type Scenario = (server: Server, moment: Moment) => Promise<void>;

let used = 0;
/** A name no other scenario uses. */
export const fresh = (word: string): string => `${word}-${++used}`;
/** A path at the receiver that no other scenario uses. */
export const hook = (): string => `/${fresh('hook')}`;

/** Waits until a review's webhooks have arrived, by type and in order, and nothing was sent twice with another body. */
export async function arrived(server: Server, path: string, types: string[]): Promise<Received[]> {
  await until(
    `${types.join(', ')} at ${path}; there: ${server.receiver.types(path).join(', ')}`,
    () => firsts(server, path).length >= types.length,
  );
  const received = firsts(server, path);
  expect(received.map((one) => one.headers['x-webhook-event'])).toEqual(types);
  for (const one of received) verifySignatures(one, server.topology.credentials.webhook_secret);
  return received;
}

/** All three, as their receivers do; HRP's two are keyed with the secret's text itself. */
function verifySignatures(one: Received, secret: string): void {
  verifyStandard(one, secret);
  const hmac = (text: string) => createHmac('sha256', secret).update(text).update(one.body).digest('hex');
  expect(one.headers['x-webhook-signature']).toBe(`sha256=${hmac('')}`);
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(one.headers['x-webhook-signature-v2'] ?? '') ?? [];
  expect(signature).toBe(hmac(`${time}.`));
}

/** The first arrival of each delivery. A copy after a crash is allowed; it has the same id and the same bytes. */
function firsts(server: Server, path: string): Received[] {
  const byId = new Map<string, Received>();
  for (const one of server.receiver.at(path)) {
    const id = one.headers['x-webhook-id'] ?? '';
    const first = byId.get(id);
    if (first) expect(one.body.equals(first.body)).toBe(true);
    else byId.set(id, one);
  }
  return [...byId.values()];
}

/** Types of a review's events, oldest first, as the audit log has them once it has the named one. */
export async function log(server: Server, id: string, known: AuditEvent['action']): Promise<string[]> {
  let types: string[] = [];
  await until(`${known} in the log of ${id}`, async () => {
    const { items } = await server.admin.do('listAuditEvents', { query: { resource_id: id, limit: 100 } });
    types = items.map((item) => item.action).reverse();
    return types.includes(known);
  });
  return types;
}

export const decisionsOf = (types: string[]): number =>
  types.filter((type) => type === 'review.decided' || type === 'review.expired').length;
