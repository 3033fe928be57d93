/**
 * How one service is asked by the gateway (K17): the same client over a function call in one process and over HTTP in many.
 *
 * C1 Every request carries an identity signed for exactly it: service, method, path with query, bytes of the body.
 * C2 A request is sent again only when the service cannot have seen it, or when it is one that changes nothing.
 * C3 A deadline ends the request at the service too: the signal closes it.
 * C4 Where breaches are checked, an answer that is not what the contract says is a fault of ours, never passed on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Actor,
  type BodyOf,
  type ErrorBody,
  type OperationId,
  operationOf,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
  type ServiceName,
} from '@countersign/contracts';
import { readJson } from '@countersign/evidence';
import { bodyHash, IDENTITY_HEADER, IDENTITY_LIFETIME_MS, signIdentity } from '../identity.js';
import { fillPath, queryText } from '../operation-path.js';
import { Problem, retryAfter } from '../problem.js';
import { observedCall } from './observed-call.js';
import { type ServiceAnswer, type ServiceHeaders, type ServiceTransport, ServiceUnreachable } from './transport.js';

export interface ForwardRequest {
  method: string;
  /** Path with query. */
  path: string;
  actor: Actor;
  request_id: string;
  headers?: Record<string, string>;
  body?: Buffer;
  signal?: AbortSignal;
  /** Milliseconds until the answer must have begun; 30,000 when omitted. */
  deadlineMs?: number;
  /** The answer's body is handed over as a stream. */
  stream?: boolean;
  /** May be sent twice: true for GET when omitted. */
  repeatable?: boolean;
}

export interface CallRequest extends Omit<ForwardRequest, 'body' | 'stream'> {
  /** Sent as JSON. */
  body?: unknown;
}

export interface CallAnswer<T> {
  status: number;
  headers: ServiceHeaders;
  /** The parsed JSON body; null when there is none. */
  body: T;
}

/** An operation's input, typed by its row in the table. */
export type AskRequest<Id extends OperationId> = Omit<CallRequest, 'method' | 'path' | 'body'> & {
  params?: ParamsOf<Id>;
  query?: QueryOf<Id>;
  body?: BodyOf<Id>;
};

export type AskAnswer<Id extends OperationId> =
  | { ok: true; status: number; headers: ServiceHeaders; body: ResponseOf<Id> }
  | { ok: false; status: number; headers: ServiceHeaders; body: ErrorBody };

/** Called with each answer that was collected whole; throws what it finds wrong. */
export type AnswerCheck = (
  request: { service: ServiceName; method: string; path: string },
  answer: { status: number; body: Buffer },
) => void;

export interface ServiceClientOptions {
  transport: ServiceTransport;
  identityKey: string;
  /** `checkAnswers()` outside production; none when omitted. */
  check?: AnswerCheck;
  /** Unix milliseconds; the machine's clock when omitted. */
  now?: () => number;
}

const DEADLINE_MS = 30_000;
const RETRY_WAITS_MS = [50, 250];

export class ServiceClient {
  readonly #options: ServiceClientOptions;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  /**
   * Passes a request on as bytes and gives the answer as bytes (or a stream).
   * @throws {Problem} `service_unavailable` when no answer came in time; the caller's own abort is thrown as it is.
   */
  async forward(service: ServiceName, request: ForwardRequest): Promise<ServiceAnswer> {
    const { transport, check } = this.#options;
    const deadline = AbortSignal.timeout(request.deadlineMs ?? DEADLINE_MS);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    const repeatable = request.repeatable ?? request.method === 'GET';
    for (let attempt = 0; ; attempt++) {
      try {
        const { method, path, body, stream } = request;
        const all = { ...request.headers, 'x-request-id': request.request_id, [IDENTITY_HEADER]: this.#sign(service, request) };
        const answer = await observedCall(service, { method, path, headers: all, resend: attempt }, (headers) =>
          transport.send(service, { method, path, headers, body, signal, stream }),
        );
        if (Buffer.isBuffer(answer.body))
          check?.({ service, method: request.method, path: request.path }, { status: answer.status, body: answer.body });
        return answer;
      } catch (error) {
        if (!(error instanceof ServiceUnreachable)) throw error;
        request.signal?.throwIfAborted();
        const wait = RETRY_WAITS_MS[attempt];
        if (wait === undefined || deadline.aborted || (error.sent && !repeatable)) {
          throw new Problem('service_unavailable', `The ${service} service did not respond. Try again.`, {
            headers: retryAfter(1),
            cause: error,
          });
        }
        await delay(wait * (0.5 + Math.random()), undefined, { signal });
      }
    }
  }

  /**
   * Asks a service and reads its JSON answer, whatever its status.
   * @throws {Problem} `service_unavailable`, as {@link forward}.
   */
  async call<T = unknown>(service: ServiceName, request: CallRequest): Promise<CallAnswer<T>> {
    const { body, ...rest } = request;
    const answer = await this.forward(service, {
      ...rest,
      ...(body === undefined
        ? {}
        : { body: Buffer.from(JSON.stringify(body), 'utf8'), headers: { ...request.headers, 'content-type': 'application/json' } }),
    });
    const bytes = answer.body as Buffer;
    return { status: answer.status, headers: answer.headers, body: (bytes.length === 0 ? null : readJson(bytes.toString('utf8'))) as T };
  }

  /**
   * Asks for an operation of the table by its id.
   * @throws {Problem} `service_unavailable`, as {@link forward}.
   */
  async ask<Id extends OperationId>(id: Id, request: AskRequest<Id>): Promise<AskAnswer<Id>> {
    const { params, query, ...rest } = request;
    const { service, method, path } = operationOf(id);
    const answer = await this.call(service, { ...rest, method, path: `${fillPath(path, params)}${queryText(query)}` });
    return { ok: answer.status < 400, ...answer } as AskAnswer<Id>;
  }

  close(): Promise<void> {
    return this.#options.transport.close();
  }

  #sign(service: ServiceName, request: ForwardRequest): string {
    const { identityKey, now = Date.now } = this.#options;
    return signIdentity(
      {
        actor: request.actor,
        aud: service,
        method: request.method,
        path: request.path,
        body_sha256: bodyHash(request.body),
        request_id: request.request_id,
        exp: now() + IDENTITY_LIFETIME_MS,
      },
      identityKey,
    );
  }
}
