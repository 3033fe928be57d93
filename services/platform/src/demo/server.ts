import type { Execution, Redemption, Review, ReviewCreate, ReviewExecution, ReviewRedeem } from '@countersign/contracts';

/** An answer that is not the one asked for: the server's error code and sentence. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What an agent needs of a server, over plain HTTP. */
export class Server {
  constructor(
    readonly url: string,
    private readonly apiKey: string,
  ) {}

  request(review: ReviewCreate): Promise<Review> {
    return this.call('POST', '/api/v1/reviews', review);
  }

  /** With `changedFrom`, answers when status or version differs from that review's, or after `wait` seconds with the state as it is. */
  async review(id: string, waiting?: { wait: number; etag: string }): Promise<{ review: Review; etag: string }> {
    const response = await this.send('GET', `/api/v1/reviews/${id}${waiting ? `?wait=${waiting.wait}` : ''}`, undefined, {
      ...(waiting ? { 'if-none-match': waiting.etag } : {}),
    });
    return { review: (await response.json()) as Review, etag: response.headers.get('etag') ?? '' };
  }

  resubmit(id: string, payload: Record<string, unknown>, version: number): Promise<Review> {
    return this.call('PUT', `/api/v1/reviews/${id}`, { payload, version });
  }

  redeem(id: string, redeem: ReviewRedeem): Promise<Redemption> {
    return this.call('POST', `/api/v1/reviews/${id}/redeem`, redeem);
  }

  recordExecution(id: string, execution: ReviewExecution): Promise<Execution> {
    return this.call('POST', `/api/v1/reviews/${id}/executions`, execution);
  }

  /** Data of each frame of the project's event stream, until the server or `signal` ends it. */
  async *stream(signal: AbortSignal): AsyncGenerator<{ type: string; review_id?: string }> {
    const response = await this.send('GET', '/api/v1/events/stream', undefined, { accept: 'text/event-stream' }, signal);
    let buffered = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      buffered += decoder.decode(chunk, { stream: true });
      for (let end = buffered.indexOf('\n\n'); end >= 0; end = buffered.indexOf('\n\n')) {
        const frame = buffered.slice(0, end).split('\n');
        buffered = buffered.slice(end + 2);
        const data = frame.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
        if (data.length > 0) yield JSON.parse(data.join('\n')) as { type: string; review_id?: string };
      }
    }
  }

  private async call<T>(method: string, path: string, body: unknown): Promise<T> {
    return (await (await this.send(method, path, body)).json()) as T;
  }

  private async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (response.ok) return response;
    const { error } = ((await response.json().catch(() => null)) ?? {}) as { error?: { code: string; message: string } };
    throw new ServerError(response.status, error?.code ?? 'unknown', error?.message ?? `The server answered ${response.status}.`);
  }
}
