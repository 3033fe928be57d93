/**
 * Attempts as telemetry sees them.
 *
 * O1 The first attempt goes on in the trace of the event it tells of; a later one begins a trace and is linked with it, since it may come
 *    hours after.
 * O2 Of the address only the host is told: the rest may hold a secret of the receiver.
 */
import type { Exchange } from '@countersign/egress';
import { idOf } from '@countersign/event-store';
import { count, record, type TraceContext, traced } from '@countersign/telemetry';
import type { Claimed, NewDelivery, Settlement } from '../queue/queue.js';

export async function observedAttempt(claimed: Claimed, attempt: () => Promise<Settlement>): Promise<Settlement> {
  const began = performance.now();
  const origin = traceOf(claimed);
  const place = claimed.attempts === 1 ? { parent: origin ?? null } : { parent: null, links: [origin] };
  const attributes = {
    'countersign.service': 'webhooks',
    'countersign.event.types': claimed.event_type,
    'countersign.delivery.id': idOf('whd', claimed.id),
    'countersign.review.id': idOf('rev', claimed.review),
    'countersign.project.id': idOf('prj', claimed.project),
    'countersign.attempt': claimed.attempts,
  };
  return traced(`deliver ${claimed.event_type}`, { ...place, attributes }, async (span) => {
    const settlement = await attempt();
    const outcome = 'verdict' in settlement ? settlement.verdict.next : 'postponed';
    span.set({ 'countersign.outcome': outcome });
    count('webhookAttempts', { 'countersign.outcome': outcome });
    if (outcome === 'postponed' || !('exchange' in settlement)) return settlement;
    record('webhookAttemptDuration', settlement.exchange.latencyMs / 1_000, { 'countersign.outcome': outcome });
    const age = claimed.age_ms + performance.now() - began;
    if (outcome !== 'retry') record('webhookAge', Math.max(0, age) / 1_000, { 'countersign.outcome': outcome });
    return settlement;
  });
}

/** @param post is told the headers that carry the trace on. */
export function observedPost(
  outgoing: Pick<NewDelivery, 'url' | 'traceparent' | 'tracestate'>,
  post: (headers: Partial<TraceContext>) => Promise<Exchange>,
): Promise<Exchange> {
  const url = URL.parse(outgoing.url);
  const attributes = {
    'http.request.method': 'POST',
    'server.address': url?.hostname,
    'server.port': url === null ? undefined : Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
  };
  return traced('POST', { kind: 'client', attributes }, async (span) => {
    const exchange = await post(span.context ?? traceOf(outgoing) ?? {});
    const { status, failure } = exchange;
    span.set({ 'http.response.status_code': status ?? undefined });
    if (failure) span.fail(failure.code);
    else if (status !== null && status >= 400) span.fail(String(status));
    return exchange;
  });
}

/** Where the event behind a delivery was handled, or undefined. */
export function traceOf({ traceparent, tracestate }: Pick<NewDelivery, 'traceparent' | 'tracestate'>): TraceContext | undefined {
  return traceparent ? { traceparent, ...(tracestate ? { tracestate } : {}) } : undefined;
}
