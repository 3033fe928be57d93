import type { ErrorBody } from '@countersign/contracts';
import { Refused, sessionEnded, Unreachable } from './failure.js';
import { addressOf, type InboxOperation, type InputOf, type ResponseOf, ROUTES } from './operations.js';
import { ServerClock } from './server-clock.js';

/** A server that has not begun to answer by then is taken for unreachable. */
const PATIENCE_MS = 30_000;

/** Calls the API on the session's cookie, which no script can read. */
export class ApiClient {
  readonly clock = new ServerClock();
  /** The project shown; none until the session is known. */
  project: string | null = null;
  /** Told when an answer says that the session is gone. */
  onSessionEnded: () => void = () => {};

  /** @throws {Refused | Unreachable} */
  async call<Id extends InboxOperation>(id: Id, input: InputOf<Id>, signal?: AbortSignal): Promise<ResponseOf<Id>> {
    const [method, path] = ROUTES[id];
    const project = input.project ?? this.project;
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (project !== null) headers['X-Project-Id'] = project;
    if (input.body !== undefined) headers['Content-Type'] = 'application/json';
    const body = input.body === undefined ? undefined : JSON.stringify(input.body);
    const response = await this.#fetch(addressOf(path, input.params, input.query), { method, headers, body }, signal);
    const answer = await this.#read(response);
    if (response.ok) return answer as ResponseOf<Id>;
    const refused = refusalOf(response, answer);
    if (sessionEnded(refused)) this.onSessionEnded();
    throw refused;
  }

  async #fetch(address: string, request: RequestInit, signal?: AbortSignal): Promise<Response> {
    const sent = Date.now();
    const patience = AbortSignal.timeout(PATIENCE_MS);
    try {
      const response = await fetch(address, {
        ...request,
        credentials: 'same-origin',
        cache: 'no-cache',
        signal: signal ? AbortSignal.any([signal, patience]) : patience,
      });
      this.clock.observe(response.headers.get('date'), sent, Date.now());
      return response;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Unreachable('The server did not respond.', { cause: error });
    }
  }

  async #read(response: Response): Promise<unknown> {
    if (response.status === 204) return undefined;
    try {
      return await response.json();
    } catch (error) {
      if (response.ok) throw new Unreachable('The response was incomplete.', { cause: error });
      return null;
    }
  }
}

/** A proxy on the way may answer without our error body. */
function refusalOf(response: Response, answer: unknown): Refused {
  const info = (answer as Partial<ErrorBody> | null)?.error;
  const after = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  if (info?.code) return new Refused(response.status, info, retryAfter);
  const code = response.status >= 500 ? 'service_unavailable' : 'invalid_request';
  return new Refused(response.status, { code, message: `The server answered ${response.status}` }, retryAfter);
}
