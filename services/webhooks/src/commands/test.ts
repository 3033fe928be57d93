import type { TestWebhook, WebhookTestResult } from '@countersign/contracts';
import { inTransaction } from '@countersign/database';
import type { Exchange } from '@countersign/egress';
import { newId, type Refusal, uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';
import type { Parts } from '../deps.js';
import { storedStatus } from '../log/wire.js';
import { stageOf } from '../queue/queue.js';
import { type Outgoing, send } from '../worker/attempt.js';
import { judge } from '../worker/verdict.js';

/** Somebody waits for the answer, so its body is not read for long. */
const BODY_MS = 2_000;

/**
 * Sends a signed test event once and writes it down. It stands apart from the reviews: no retries, no circuit, nothing in the log of events.
 *
 * A key names an address in a network it may have no other way into. It is told the status and how long that took; what the receiver wrote,
 * and why there was no answer (nobody listens, something filters), is told to people, and is not in the log either where a key asked.
 */
export async function testWebhook(
  { pool, sender, config }: Parts,
  caller: { project: string; request_id: string; isPerson: boolean },
  url: string,
): Promise<WebhookTestResult | Refusal<'invalid_callback_url'>> {
  const refusal = await sender.egress.checkCallbackUrl(url);
  if (refusal) return { ...refusal, param: 'url' };
  const { rows } = await pool.query<{ now: Date }>('select webhooks.time_now() as now');
  const at = (rows[0] as { now: Date }).now;
  const body: TestWebhook = { type: 'webhook.test', project_id: caller.project, sent_at: at.toISOString() };
  const id = newId('whd');
  const outgoing: Outgoing = {
    id: uuidOf(id),
    project: uuidOf(caller.project),
    event_type: body.type,
    url,
    body: JSON.stringify(body),
    request_id: caller.request_id,
  };
  const observed = await send(sender, outgoing, { limits: { bodyMs: BODY_MS } });
  const exchange = caller.isPerson ? observed : withoutDetail(observed);
  // How long it took to find nobody tells refused from filtered.
  const latency = caller.isPerson || exchange.status !== null ? exchange.latencyMs : null;
  const { next, error } = judge(exchange, config.backoff.length + 1, config, 0);
  const outcome = next === 'delivered' ? 'delivered' : 'failed';
  await write(pool, outgoing, { at, exchange, latency, outcome, error });
  return { delivery_id: id, status: outcome, status_code: exchange.status, latency_ms: latency, error };
}

function withoutDetail(exchange: Exchange): Exchange {
  const failure: Exchange['failure'] = exchange.failure && { stage: 'attempt', code: 'connection_lost', message: 'No response.' };
  return { ...exchange, excerpt: '', failure };
}

async function write(
  pool: Pool,
  outgoing: Outgoing,
  result: { at: Date; exchange: Exchange; latency: number | null; outcome: 'delivered' | 'failed'; error: string | null },
): Promise<void> {
  const { id, project, event_type, url, body, request_id } = outgoing;
  const { at, exchange, latency, outcome, error } = result;
  await inTransaction(pool, async (tx) => {
    const place = [project, new URL(url).origin];
    await tx.query('insert into webhooks.endpoints (project, origin) values ($1, $2) on conflict do nothing', place);
    const { rows } = await tx.query<{ id: number }>('select id from webhooks.endpoints where project = $1 and origin = $2', place);
    const endpoint = rows[0]?.id;
    await tx.query(
      `insert into webhooks.deliveries (id, endpoint, project, event_type, url, body, request_id, status, attempts, last_attempt_at,
         last_error, delivered_at, created_at, settled_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9::timestamptz, $10, case when $8 = 'delivered' then $9::timestamptz end, $9, $9)`,
      [id, endpoint, project, event_type, url, body, request_id, storedStatus(outcome), at, error],
    );
    await tx.query(
      `insert into webhooks.attempts (delivery, number, started_at, stage, outcome, status_code, latency_ms, error, response_preview)
       values ($1, 1, $2, $3, $4, $5, $6, $7, $8)`,
      [id, at, stageOf(exchange), outcome, exchange.status, latency, error, exchange.status === null ? null : exchange.excerpt],
    );
  });
}
