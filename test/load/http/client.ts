import { Pool } from 'undici';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Requests over so many connections that are kept open, one at a time on each. */
export class Client {
  readonly #pool: Pool;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });
  }

  async ask(method: 'GET' | 'POST', path: string, bearer: string, json?: unknown): Promise<Answer> {
    const { statusCode, headers, body } = await this.#pool.request({
      method,
      path,
      headers: { authorization: `Bearer ${bearer}`, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
    return { status: statusCode, headers, body: await body.text() };
  }

  /** @throws {Error} on any answer but a success. */
  async succeed(method: 'GET' | 'POST', path: string, bearer: string, json?: unknown): Promise<Answer> {
    const answer = await this.ask(method, path, bearer, json);
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.body.slice(0, 500)}`);
    return answer;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}
