/** The client's side of a request between services: a span for each time it is sent, and the headers that tell the service of it. */
import type { ServiceName } from '@countersign/contracts';
import { telemetryOn, traced } from '@countersign/telemetry';
import { findOperation } from '../operation-path.js';
import type { ServiceAnswer } from './transport.js';

/** The same route for every id; nothing of a path that is none of ours. */
function templateOf(method: string, path: string): string | undefined {
  const bare = path.split('?', 1)[0] ?? '';
  return findOperation(method, path)?.path ?? /^\/internal\/[a-z-]+$/.exec(bare)?.[0];
}

/**
 * @param request.headers what is sent, a caller's `traceparent` included: the span's takes its place.
 * @param request.resend how often it was sent before.
 */
export function observedCall(
  service: ServiceName,
  request: { method: string; path: string; headers: Record<string, string>; resend: number },
  send: (headers: Record<string, string>) => Promise<ServiceAnswer>,
): Promise<ServiceAnswer> {
  if (!telemetryOn() || request.path === '/internal/ready') return send(request.headers);
  const template = templateOf(request.method, request.path);
  const attributes = {
    'http.request.method': request.method,
    'url.template': template,
    'server.address': service,
    'http.request.resend_count': request.resend === 0 ? undefined : request.resend,
  };
  return traced(template ? `${request.method} ${template}` : request.method, { kind: 'client', attributes }, async (span) => {
    const { traceparent: _, tracestate: __, ...headers } = request.headers;
    const answer = await send({ ...headers, ...span.context });
    span.set({ 'http.response.status_code': answer.status });
    // A refusal is an answer; what fails is the service.
    if (answer.status >= 500) span.fail(String(answer.status));
    return answer;
  });
}
