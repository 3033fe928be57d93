import type { Egress, EgressRequest, Exchange } from '@countersign/egress';
import { idOf } from '@countersign/event-store';
import { signatureHeaders } from '../message/signing.js';
import { observedPost } from './observed-attempt.js';
import type { SecretsOf } from './secrets.js';

/** What is sent, on the first attempt and on every other. */
export interface Outgoing {
  /** uuid of the delivery. */
  id: string;
  /** uuid of the project. */
  project: string;
  event_type: string;
  url: string;
  body: string;
  request_id: string | null;
  /** Where in a trace the event behind it was handled. */
  traceparent?: string | null;
  tracestate?: string | null;
}

export interface Sender {
  egress: Egress;
  secretsOf: SecretsOf;
  /** Version in `User-Agent`. */
  version: string;
  /** Unix milliseconds that receivers compare with their own clocks. */
  now: () => number;
}

/**
 * One attempt: signs afresh and sends the stored bytes (HRP §7.2).
 *
 * The timestamp is of a wall clock and not of the event store, which may be set forward in tests; of the database's, so that no receiver takes
 * what a process with a wrong clock sends for a recording.
 * @throws {SecretsUnavailable} nothing was sent.
 */
export async function send(
  { egress, secretsOf, version, now }: Sender,
  outgoing: Outgoing,
  options: Pick<EgressRequest, 'signal' | 'limits'> = {},
): Promise<Exchange> {
  const secrets = await secretsOf(idOf('prj', outgoing.project));
  const id = idOf('whd', outgoing.id);
  const body = Buffer.from(outgoing.body, 'utf8');
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Countersign/${version}`,
    'X-Webhook-Event': outgoing.event_type,
    'X-Webhook-Id': id,
    ...(outgoing.request_id === null ? {} : { 'X-Request-Id': outgoing.request_id }),
    ...signatureHeaders({ id, timestamp: Math.floor(now() / 1_000), body }, secrets),
  };
  return observedPost(outgoing, (trace) => egress.post({ url: outgoing.url, headers: { ...headers, ...trace }, body, ...options }));
}
