/**
 * Requests to addresses that clients named: checked, bounded, never following a redirect (HRP §7.3, decision 12).
 *
 * E1 Only addresses that were checked for this very connection are reached (guarded-connect.ts).
 * E2 A redirect is an answer like any other: its target is never requested.
 * E3 Every phase has an end: one deadline from the start to the response's headers, one for its body, and a bound on the bytes read.
 *    They are our own clocks, since the client library's restart with each byte that drips in.
 * E4 What happened is a value. Only a bug is thrown.
 */
import { Agent, errors, request } from 'undici';
import { type CallbackRefusal, hostOf, parseCallbackUrl, type Resolve, refuse, refusedAddress } from './callback-url.js';
import { BeforeSending, codeOf, guardedConnect, systemResolve } from './guarded-connect.js';
import { parseNetwork, reservedRange } from './networks.js';

/** How long one request may take, and how much of its answer is read. */
export interface EgressLimits {
  /** From the start, connecting included, to the end of the response's headers. */
  headersMs: number;
  bodyMs: number;
  bodyBytes: number;
}

const EGRESS_LIMITS: EgressLimits = { headersMs: 10_000, bodyMs: 30_000, bodyBytes: 64 * 1_024 };

/** Bytes of the response kept for the log. */
const EXCERPT_BYTES = 1_024;

/** Longest wait for the name at creation; a slow name server refuses nothing, since the connection is checked again. */
const CHECK_MS = 2_000;

export type FailureCode =
  | 'invalid_request'
  | 'address_refused'
  | 'unresolvable'
  | 'connect_failed'
  | 'timeout'
  | 'connection_lost'
  | 'bad_response'
  | 'aborted'
  | 'body_timeout'
  | 'body_too_large'
  | 'body_cut';

/** `before`: nothing was sent. `attempt`: it may have been. `after`: the status is known, the body was not read to its end. */
export interface ExchangeFailure {
  stage: 'before' | 'attempt' | 'after';
  code: FailureCode;
  message: string;
}

export interface Exchange {
  /** Null when no response came. */
  status: number | null;
  /** What `Retry-After` asks for, read against the receiver's own `Date` when it is a date. */
  retryAfterSeconds: number | null;
  /** The first bytes of the response as text without NUL. */
  excerpt: string;
  failure: ExchangeFailure | null;
  /** To the response's headers, or to the failure. */
  latencyMs: number;
}

export interface EgressRequest {
  url: string;
  headers: Record<string, string>;
  /** The exact bytes. */
  body: Buffer;
  /** Ends the request with the failure `aborted`. */
  signal?: AbortSignal;
  /** Tighter than the egress's own, for a caller who waits. */
  limits?: Partial<EgressLimits>;
}

export interface Egress {
  /** Whether an address a client names may be called, as far as can be told now. A name that does not exist is refused; a name server that does not answer refuses nothing. */
  checkCallbackUrl(url: string): Promise<CallbackRefusal | null>;
  post(request: EgressRequest): Promise<Exchange>;
  close(): Promise<void>;
}

/**
 * @param options.allowNetworks private or reserved networks that may be reached, in CIDR form.
 * @param options.resolve replaces the system's resolver; how tests make a name change its address between the check and the connection.
 */
export function createEgress(options: { allowNetworks: readonly string[]; resolve?: Resolve; limits?: Partial<EgressLimits> }): Egress {
  const allowed = options.allowNetworks.map(parseNetwork);
  const limits = { ...EGRESS_LIMITS, ...options.limits };
  const resolve = options.resolve ?? systemResolve();
  const agent = new Agent({
    connect: guardedConnect(resolve, allowed, limits.headersMs),
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  return {
    async checkCallbackUrl(text) {
      const url = parseCallbackUrl(text, allowed);
      if (!(url instanceof URL)) return url;
      const host = hostOf(url);
      const addresses = await within(CHECK_MS, resolve(host)).catch((error: unknown) => codeOf(error));
      if (addresses === 'ENOTFOUND' || addresses === 'ENODATA') return refuse(`The callback host ${host} does not exist.`);
      if (typeof addresses === 'string') return null;
      for (const { address } of addresses) {
        const range = reservedRange(address, allowed);
        if (range) return refuse(`The callback host ${host} resolves to a blocked address: ${refusedAddress(address, range)}`);
      }
      return null;
    },

    post: (outgoing) => exchange(agent, outgoing, { ...limits, ...outgoing.limits }),

    close: () => agent.destroy(),
  };
}

async function exchange(agent: Agent, outgoing: EgressRequest, limits: EgressLimits): Promise<Exchange> {
  const started = performance.now();
  const latencyMs = () => Math.round(performance.now() - started);
  const nothing = { status: null, retryAfterSeconds: null, excerpt: '' };
  const url = URL.parse(outgoing.url);
  if (!url) {
    return { ...nothing, failure: { stage: 'before', code: 'invalid_request', message: 'Not a valid URL.' }, latencyMs: 0 };
  }
  const stop = new AbortController();
  const deadline = setTimeout(() => stop.abort(new Deadline()), limits.headersMs);
  const abandon = () => stop.abort(new Abandoned());
  outgoing.signal?.addEventListener('abort', abandon);
  if (outgoing.signal?.aborted) abandon();
  try {
    const response = await request(url, {
      method: 'POST',
      headers: outgoing.headers,
      body: outgoing.body,
      dispatcher: agent,
      signal: stop.signal,
    });
    clearTimeout(deadline);
    const answered = { status: response.statusCode, retryAfterSeconds: retryAfter(response.headers), latencyMs: latencyMs() };
    const { excerpt, failure } = await readBody(response.body, stop, limits);
    return { ...answered, excerpt, failure };
  } catch (error) {
    return { ...nothing, failure: failureOf(error, limits), latencyMs: latencyMs() };
  } finally {
    clearTimeout(deadline);
    outgoing.signal?.removeEventListener('abort', abandon);
  }
}

class Deadline extends Error {
  override readonly name = 'Deadline';
}

class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

/** Reads to the end or to a bound; the status stands whatever happens here. */
async function readBody(
  body: AsyncIterable<Buffer>,
  stop: AbortController,
  limits: EgressLimits,
): Promise<{ excerpt: string; failure: ExchangeFailure | null }> {
  const kept: Buffer[] = [];
  let bytes = 0;
  const after = (code: FailureCode, message: string): { excerpt: string; failure: ExchangeFailure } => ({
    excerpt: excerptOf(kept),
    failure: { stage: 'after', code, message },
  });
  const deadline = setTimeout(() => stop.abort(new Deadline()), limits.bodyMs);
  try {
    for await (const chunk of body) {
      if (bytes < EXCERPT_BYTES) kept.push(chunk.subarray(0, EXCERPT_BYTES - bytes));
      bytes += chunk.length;
      if (bytes > limits.bodyBytes)
        return after('body_too_large', `The response body exceeded ${limits.bodyBytes} bytes; the rest was not read.`);
    }
    return { excerpt: excerptOf(kept), failure: null };
  } catch (error) {
    if (error instanceof Deadline) return after('body_timeout', `The response body did not end within ${limits.bodyMs / 1_000} s.`);
    return after('body_cut', `The response body ended early (${codeOf(error)}).`);
  } finally {
    clearTimeout(deadline);
  }
}

function failureOf(error: unknown, limits: EgressLimits): ExchangeFailure {
  if (error instanceof BeforeSending) return { stage: 'before', code: error.code, message: error.message };
  if (error instanceof Deadline) return { stage: 'attempt', code: 'timeout', message: `No response within ${limits.headersMs / 1_000} s.` };
  if (error instanceof Abandoned)
    return { stage: 'attempt', code: 'aborted', message: 'The attempt was aborted because the process is shutting down.' };
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG') return { stage: 'before', code: 'invalid_request', message: (error as Error).message };
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return { stage: 'attempt', code: 'bad_response', message: 'The reply is not a valid HTTP response.' };
  }
  if (typeof (error as { code?: unknown }).code === 'string') {
    return { stage: 'attempt', code: 'connection_lost', message: `The connection closed before a response arrived (${code}).` };
  }
  throw error;
}

function retryAfter(headers: Record<string, string | string[] | undefined>): number | null {
  const value = single(headers['retry-after'])?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const wanted = Date.parse(value);
  const sent = Date.parse(single(headers.date) ?? '');
  if (Number.isNaN(wanted)) return null;
  return Math.max(0, Math.ceil((wanted - (Number.isNaN(sent) ? Date.now() : sent)) / 1_000));
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** As text a database column takes: replacement characters for what is not UTF-8, and for NUL. */
function excerptOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\ufffd');
}

/** The promise, or the code `ETIMEOUT` when it takes longer. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(Object.assign(new Error('Timed out.'), { code: 'ETIMEOUT' })), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
