/** The product with its callers: an agent's key, people with sessions, a webhook receiver. What a scenario is given. */
import type { ApiKeyCreate, BodyOf, OperationId, QueryOf, ResponseOf, Review, ReviewCreate, TemplateCreate } from '@countersign/contracts';
import { Receiver } from '@countersign/testing';
import { Answers, type OpenApi } from './answers.js';
import { startAllInOne, type Topology } from './topology.js';

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface ErrorAnswer {
  error: { code: string; message: string; param?: string; review?: { status: string; decision: string | null }; [more: string]: unknown };
}

interface Options<Id extends OperationId> {
  path?: Record<string, string>;
  query?: QueryOf<Id>;
  body?: BodyOf<Id> | Record<string, unknown>;
  headers?: Record<string, string>;
}

/** Somebody with a credential. Every answer they get is checked against the gateway's own OpenAPI document. */
export class Caller {
  /** Its own last write, as it is told to a gateway that may not be the one which took it (K14). */
  #seen: string | null = null;

  constructor(
    readonly url: string,
    public bearer: string | null,
    protected readonly answers: Answers,
  ) {}

  /** The answer whatever its status. */
  async try<Id extends OperationId>(id: Id, options: Options<Id> = {}): Promise<Answer<ResponseOf<Id> & ErrorAnswer>> {
    const { method, path } = this.answers.route(id);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(options.path?.[name] ?? ''));
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(options.query ?? {})) for (const one of [value].flat()) query.append(name, String(one));
    const response = await fetch(`${this.url}${filled}${query.size > 0 ? `?${query}` : ''}`, {
      method,
      headers: {
        ...(this.bearer === null ? {} : { authorization: `Bearer ${this.bearer}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.#seen === null ? {} : { 'countersign-seen': this.#seen }),
        ...options.headers,
      },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
    });
    this.#seen = response.headers.get('countersign-seen') ?? this.#seen;
    const text = await response.text();
    const body = text === '' ? null : (JSON.parse(text) as unknown);
    this.answers.check(id, response.status, response.headers.get('content-type') ?? '', body);
    return { status: response.status, headers: response.headers, body: body as ResponseOf<Id> & ErrorAnswer };
  }

  /** The body of a success. @throws {Error} on any other answer. */
  async do<Id extends OperationId>(id: Id, options: Options<Id> = {}): Promise<ResponseOf<Id>> {
    const { status, body } = await this.try(id, options);
    if (status >= 400) throw new Error(`${id} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Status and code of a refusal. @throws {Error} on a success. */
  async refused<Id extends OperationId>(id: Id, options: Options<Id> = {}): Promise<[number, string]> {
    const { status, body } = await this.try(id, options);
    if (status < 400) throw new Error(`${id} was expected to be refused and answered ${status}: ${JSON.stringify(body)}`);
    return [status, (body as ErrorAnswer).error.code];
  }

  act(id: string, action_id: string, more: Record<string, unknown> = {}): Promise<Review> {
    return this.do('actOnReview', { path: { id }, body: { action_id, ...more } });
  }

  review(id: string): Promise<Review> {
    return this.do('getReview', { path: { id } });
  }
}

/** Somebody with a password: signs in again when their session has ended, as it does when a day is made to pass. */
export class Person extends Caller {
  constructor(
    url: string,
    private readonly credentials: { email: string; password: string },
    answers: Answers,
  ) {
    super(url, null, answers);
  }

  async signIn(): Promise<this> {
    const { token } = await new Caller(this.url, null, this.answers).do('login', { body: this.credentials });
    if (token === undefined) throw new Error('A session was opened without a token.');
    this.bearer = token;
    return this;
  }

  override async try<Id extends OperationId>(id: Id, options: Options<Id> = {}): Promise<Answer<ResponseOf<Id> & ErrorAnswer>> {
    const first = await super.try(id, options);
    if (first.status !== 401 || (first.body as ErrorAnswer).error.code !== 'invalid_token') return first;
    await this.signIn();
    return super.try(id, options);
  }
}

export const DRAFT = { to: 'ann@customer.example', subject: 'Your order', body: 'Dear Ann,\n\n**it is on its way.**' };

export class Server {
  private constructor(
    readonly topology: Topology,
    readonly receiver: Receiver,
    readonly answers: Answers,
    /** The demo project's key. */
    readonly agent: Caller,
    /** The demo project's admin. */
    readonly admin: Person,
    /** The demo project's second person, a reviewer. */
    readonly reviewer: Person,
  ) {}

  /** @param again what another topology left behind: the people are there, and the receiver had this port. */
  static async start(topology?: Topology, again?: { receiverPort: number }): Promise<Server> {
    const running = topology ?? (await startAllInOne());
    const { url, api_key, reviewer } = running.credentials;
    const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApi;
    const answers = new Answers(document);
    const admin = await new Person(url, reviewer, answers).signIn();
    const invited = { email: 'second@demo.example', password: 'a-long-sentence-nobody-guesses-7' };
    if (!again) {
      const { invite_url } = await admin.do('inviteMember', { body: { email: invited.email, role: 'reviewer' } });
      const token = /[^/#=]+$/.exec(invite_url)?.[0] ?? '';
      const body = { name: 'Second reviewer', password: invited.password };
      await new Caller(url, null, answers).do('acceptInvite', { path: { token }, body });
    }
    const second = await new Person(url, invited, answers).signIn();
    const receiver = await new Receiver().listen(again?.receiverPort);
    return new Server(running, receiver, answers, new Caller(url, api_key, answers), admin, second);
  }

  get url(): string {
    return this.agent.url;
  }

  /** A key of the demo project with other settings. */
  async key(settings: Partial<ApiKeyCreate> = {}): Promise<Caller> {
    const scopes = ['reviews:create', 'reviews:read', 'templates:read', 'feedback:read'] as ApiKeyCreate['scopes'];
    const made = await this.admin.do('createApiKey', { body: { name: 'another agent', scopes, ...settings } });
    return new Caller(this.url, made.raw_key ?? null, this.answers);
  }

  /** A template a person publishes. */
  publish(template: Partial<TemplateCreate> & { slug: string }) {
    const fields: TemplateCreate['fields'] = [
      { name: 'subject', type: 'text', label: 'Subject', required: true, editable: true },
      { name: 'body', type: 'markdown', label: 'Body', editable: true },
    ];
    return this.admin.do('createTemplate', {
      body: { name: template.slug, fields, actions: ['approve', 'reject', 'request_changes'], ...template },
    });
  }

  ask(body: Partial<ReviewCreate> = {}, agent: Caller = this.agent): Promise<Review> {
    return agent.do('createReview', { body: { template: 'email-draft', payload: DRAFT, ...body } });
  }

  async stop(): Promise<void> {
    await this.receiver.close();
    await this.topology.stop();
  }
}
