import type { ServiceName } from '@countersign/contracts';
import { Agent, request as send } from 'undici';
import { type ServiceHeaders, type ServiceTransport, ServiceUnreachable } from './transport.js';

/** Failures before a byte went out: the service cannot have seen the request. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Calls services over HTTP. Deadlines come with the request's signal; connecting has 2 seconds of its own. */
export function httpTransport(urls: Partial<Record<ServiceName, string>>, options: { connections?: number } = {}): ServiceTransport {
  const agent = new Agent({
    connect: { timeout: 2_000 },
    connections: options.connections ?? 64,
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async send(service, request) {
      const base = urls[service];
      if (!base) throw new ServiceUnreachable(service, false, new Error(`No address is configured for the ${service} service.`));
      try {
        const answer = await send(new URL(base).origin + request.path, {
          method: request.method as 'GET',
          headers: request.headers,
          body: request.body ?? null,
          signal: request.signal ?? null,
          dispatcher: agent,
        });
        const body = request.stream ? answer.body : Buffer.from(await answer.body.arrayBuffer());
        return { status: answer.statusCode, headers: answer.headers as ServiceHeaders, body };
      } catch (error) {
        throw new ServiceUnreachable(service, !NOT_SENT.has((error as { code?: string }).code ?? ''), error);
      }
    },
    close: () => agent.close(),
  };
}
