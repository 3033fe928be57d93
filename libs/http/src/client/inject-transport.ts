import type { ServiceName } from '@countersign/contracts';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type ServiceHeaders, type ServiceTransport, ServiceUnreachable } from './transport.js';

export type ServiceApps = Partial<Record<ServiceName, NestFastifyApplication>>;

/**
 * Calls the services of the same process without a socket: the same guard, parser and controllers answer.
 * @param apps asked at every call, since the applications may be made after the client.
 */
export function injectTransport(apps: () => ServiceApps): ServiceTransport {
  return {
    async send(service, request) {
      const app = apps()[service];
      if (!app) throw new ServiceUnreachable(service, false, new Error(`No ${service} application runs in this process.`));
      const { method, path, headers, body, signal, stream } = request;
      try {
        const options = { method: method as 'GET', url: path, headers, ...(body ? { payload: body } : {}), ...(signal ? { signal } : {}) };
        if (stream) {
          const answer = await app.inject({ ...options, payloadAsStream: true });
          return { status: answer.statusCode, headers: answer.headers as ServiceHeaders, body: answer.stream() };
        }
        const answer = await app.inject(options);
        return { status: answer.statusCode, headers: answer.headers as ServiceHeaders, body: answer.rawPayload };
      } catch (error) {
        throw new ServiceUnreachable(service, true, error);
      }
    },
    async close() {},
  };
}
