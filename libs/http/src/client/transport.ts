import type { Readable } from 'node:stream';
import type { ServiceName } from '@countersign/contracts';

export interface ServiceRequest {
  method: string;
  /** Path with query, in the form a URL parser leaves as it is. */
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  signal?: AbortSignal;
  /** The answer is handed over as it comes, not collected. */
  stream?: boolean;
}

export type ServiceHeaders = Record<string, string | string[]>;

export interface ServiceAnswer {
  status: number;
  headers: ServiceHeaders;
  body: Buffer | Readable;
}

/** How a request reaches a service: by a function call in one process, over a socket in many (K17). */
export interface ServiceTransport {
  /** @throws {ServiceUnreachable} when no answer came; any answer, 500 included, is returned. */
  send(service: ServiceName, request: ServiceRequest): Promise<ServiceAnswer>;
  close(): Promise<void>;
}

/** No answer came. `sent` tells whether the service may have seen the request. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
  constructor(
    readonly service: ServiceName,
    readonly sent: boolean,
    cause: unknown,
  ) {
    super(`The ${service} service did not respond.`, { cause });
  }
}
