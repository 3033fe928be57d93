import type { ServiceName } from '@countersign/contracts';
import { Agent, request as send } from 'undici';
import { type ServiceHeaders, type ServiceTransport, ServiceUnreachable } from './transport.js';
import { Upstreams } from './upstreams.js';

/** Failures before a byte went out: the service cannot have seen the request. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** Calls services over HTTP, each at one or more addresses. Deadlines come with the request's signal; connecting has 2 seconds of its own. */
export function httpTransport(
  urls: { readonly [service in ServiceName]?: readonly string[] | undefined },
  options: { connections?: number } = {},
): ServiceTransport {
  const agent = new Agent({
    connect: { timeout: 2_000 },
    connections: options.connections ?? 64,
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const known = Object.entries<readonly string[] | undefined>(urls);
  const upstreams = new Map(known.map(([service, list = []]) => [service, new Upstreams({ urls: list, dispatcher: agent })]));
  return {
    async send(service, request) {
      const processes = upstreams.get(service);
      const tried = new Set<string>();
      for (;;) {
        const origin = await processes?.next(tried);
        if (origin === undefined)
          throw new ServiceUnreachable(service, false, new Error(`No address is known for the ${service} service.`));
        try {
          const answer = await send(origin + request.path, {
            method: request.method as 'GET',
            headers: request.headers,
            body: request.body ?? null,
            signal: request.signal ?? null,
            dispatcher: agent,
          });
          const body = request.stream ? answer.body : Buffer.from(await answer.body.arrayBuffer());
          return { status: answer.statusCode, headers: answer.headers as ServiceHeaders, body };
        } catch (error) {
          const sent = !NOT_SENT.has((error as { code?: string }).code ?? '');
          if (!request.signal?.aborted) processes?.failed(origin);
          // A process that cannot have seen the request is no reason not to ask another.
          if (sent || tried.has(origin)) throw new ServiceUnreachable(service, sent, error);
          tried.add(origin);
        }
      }
    },
    async close() {
      for (const processes of upstreams.values()) processes.close();
      await agent.close();
    },
  };
}
