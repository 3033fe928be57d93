/** The real server with its own data, as the browser tests meet it: an agent's key, people who may decide, templates. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoggedIn, MemberInvited, Review, ReviewCreate, Template, TemplateCreate } from '@countersign/contracts';
import {
  addressOf,
  prepareData,
  runCli,
  type SpawnedProgram,
  scratchFolder,
  spawnServer,
  stopLeftovers,
} from '@countersign/platform/fixture';
import pg from 'pg';

export interface Person {
  email: string;
  password: string;
  name: string;
}

interface Credentials {
  api_key: string;
  project_id: string;
  reviewer: { email: string; password: string };
}

export class Server {
  readonly #scratch = scratchFolder();
  #server: SpawnedProgram | undefined;
  #tokens = new Map<string, string>();
  url = '';
  key = '';
  admin: Person = { email: '', password: '', name: 'Demo reviewer' };

  get #dataDir(): string {
    return join(this.#scratch.path, 'data');
  }

  async start(): Promise<void> {
    // Not when it is started again.
    if (!this.#server) await prepareData(this.#dataDir);
    this.#server = spawnServer(this.#dataDir, {
      CHECK_ANSWERS: 'true',
      STREAM_RECHECK: '200ms',
      ...(this.url ? { PORT: new URL(this.url).port } : {}),
    });
    this.url = await addressOf(this.#server);
    const { api_key, reviewer } = JSON.parse(readFileSync(join(this.#dataDir, 'credentials.json'), 'utf8')) as Credentials;
    this.key = api_key;
    this.admin = { ...reviewer, name: 'Demo reviewer' };
  }

  /** Address of the one-time link the server printed when it started. */
  async signInLink(): Promise<string> {
    return (await (this.#server as SpawnedProgram).printed(/http\S+\/login#link=\S+/))[0];
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  /** Ends it without a chance to close anything. */
  async kill(): Promise<void> {
    await this.#server?.stop('SIGKILL');
  }

  async close(): Promise<void> {
    await this.stop();
    await stopLeftovers(this.#dataDir, this.#server ? [this.#server] : []);
    this.#scratch.remove();
  }

  /** @throws {Error} for an answer that is no success. */
  async call<T>(method: string, path: string, body?: unknown, token: string = this.key): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** The bearer token of a person, who signs in once for a test file. */
  async tokenOf({ email, password }: Person = this.admin): Promise<string> {
    const known = this.#tokens.get(email);
    if (known) return known;
    const { token } = await this.call<LoggedIn>('POST', '/auth/login', { email, password });
    this.#tokens.set(email, token as string);
    return token as string;
  }

  /** A second person in the project, by way of an invitation. */
  async invite(name: string, role: 'admin' | 'reviewer' = 'reviewer'): Promise<Person> {
    const { email, token } = await this.invitation(name, role);
    const password = `${name} has a long password`;
    await this.call('POST', `/auth/invite/${token}`, { name, password });
    return { email, password, name };
  }

  async invitation(name: string, role: 'admin' | 'reviewer' = 'reviewer'): Promise<{ email: string; token: string; url: string }> {
    const email = `${name}@example.org`;
    const { invite_url } = await this.call<MemberInvited>('POST', '/settings/team/invite', { email, role }, await this.tokenOf());
    return { email, token: new URL(invite_url).hash.slice(1), url: invite_url };
  }

  async publish(template: TemplateCreate): Promise<Template> {
    return this.call('POST', '/templates', template, await this.tokenOf());
  }

  /** The agent asks. */
  ask(template: string, payload: Record<string, unknown>, more: Partial<ReviewCreate> = {}): Promise<Review> {
    return this.call('POST', '/reviews', { template, payload, ...more });
  }

  askEmail(subject: string, more: Partial<ReviewCreate> = {}): Promise<Review> {
    return this.ask('email-draft', { to: 'ann@example.org', subject, body: `About **${subject}**.` }, more);
  }

  /** The agent sends its next version. */
  resubmit(id: string, payload: Record<string, unknown>, version = 2): Promise<Review> {
    return this.call('PUT', `/reviews/${id}`, { payload, version });
  }

  read(id: string): Promise<Review> {
    return this.call('GET', `/reviews/${id}`);
  }

  async readAs(id: string, person: Person = this.admin): Promise<Review> {
    return this.call('GET', `/reviews/${id}`, undefined, await this.tokenOf(person));
  }

  /** A person decides by the API, as a client without a screen would. */
  async act(id: string, action_id: string, more: Record<string, unknown> = {}, person: Person = this.admin): Promise<Review> {
    const { current_version: version, payload_digest } = await this.read(id);
    return this.call('POST', `/reviews/${id}/action`, { action_id, version, payload_digest, ...more }, await this.tokenOf(person));
  }

  /** One command of the operators' CLI, beside the running server. @throws {Error} when it fails. */
  async operate<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await runCli(this.#dataDir, '--json', ...args);
    if (code !== 0) throw new Error(`countersign ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Makes a day pass, as the schema's owner can. */
  async advanceClock(seconds: number): Promise<void> {
    const { database_url } = JSON.parse(readFileSync(join(this.#dataDir, 'lock.json'), 'utf8')) as { database_url: string };
    const owner = new pg.Client({ connectionString: database_url });
    await owner.connect();
    try {
      await owner.query("update event_store.clock set ahead = ahead + $1 * interval '1 second'", [seconds]);
    } finally {
      await owner.end();
    }
  }
}
