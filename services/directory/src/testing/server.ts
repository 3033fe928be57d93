import { createHash, randomBytes } from 'node:crypto';
import { type Actor, type OperationId, operationOf, type PersonActor, type Role, type TSchema, validator } from '@countersign/contracts';
import { EVENT_STORE_MIGRATIONS } from '@countersign/event-store';
import { IDENTITY_HEADER, signIdentity } from '@countersign/http';
import { createLogger } from '@countersign/telemetry';
import { type TestDatabase, testDatabase } from '@countersign/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { authenticate } from '../authentication/authenticate.js';
import { createPerson } from '../commands/people.js';
import { createProject } from '../commands/projects.js';
import type { DirectoryAppDeps } from '../deps.js';
import { createDirectoryApp } from '../directory.module.js';
import { DIRECTORY_MIGRATIONS } from '../migrations.js';
import { directoryStore, OPERATOR } from '../provisioning.js';
import type { Outcome } from '../refusals.js';

/** For specs: the directory on a real database, and what the gateway would do in front of it. */
export const PASSWORD = 'a rather long secret';
const IDENTITY_KEY = 'identity-key-of-the-specs';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  // biome-ignore lint/suspicious/noExplicitAny: a spec reads whatever came.
  body: any;
}

export interface Server {
  db: TestDatabase;
  deps: DirectoryAppDeps;
  app: NestFastifyApplication;
  /** A request as the gateway forwards it. */
  ask(
    actor: Actor | null,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Signs in over HTTP and gives the actor the gateway would find. */
  signIn(email: string, password?: string, ip?: string): Promise<{ token: string; actor: PersonActor }>;
  project(name: string): Promise<string>;
  person(project: string, email: string, role: Role): Promise<string>;
  close(): Promise<void>;
}

export async function startServer(): Promise<Server> {
  const db = await testDatabase({ sets: [EVENT_STORE_MIGRATIONS, DIRECTORY_MIGRATIONS] });
  const deps: DirectoryAppDeps = {
    store: directoryStore({ pool: db.pool }),
    pool: db.pool,
    config: {
      secretsKey: randomBytes(32).toString('hex'),
      secretsKeyPrevious: [],
      publicUrl: 'https://gate.example.com',
      passwordCost: 10,
      signInLinkLifetime: 15 * 60_000,
    },
    logger: createLogger({ service: 'directory', level: 'silent' }),
    identityKey: IDENTITY_KEY,
    ready: async () => ({}),
  };
  const app = await createDirectoryApp(deps);
  const server: Server = {
    db,
    deps,
    app,
    async ask(actor, method, path, body, headers = {}) {
      const bytes = body === undefined ? '' : JSON.stringify(body);
      const identity = signIdentity(
        {
          actor: actor ?? { kind: 'anonymous' },
          aud: 'directory',
          method,
          path,
          body_sha256: createHash('sha256').update(bytes).digest('hex'),
          request_id: 'request-of-a-spec',
          exp: Date.now() + 60_000,
        },
        IDENTITY_KEY,
      );
      const answer = await app.inject({
        method,
        url: path,
        payload: bytes === '' ? undefined : bytes,
        headers: { ...(bytes === '' ? {} : { 'content-type': 'application/json' }), ...headers, [IDENTITY_HEADER]: identity },
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? null : JSON.parse(answer.body) };
    },
    async signIn(email, password = PASSWORD, ip = '203.0.113.1') {
      const answer = await server.ask(null, 'POST', '/api/v1/auth/login', { email, password }, { 'countersign-client-ip': ip });
      if (answer.status !== 200) throw new Error(`Sign-in returned ${answer.status} ${JSON.stringify(answer.body)}`);
      return { token: answer.body.token, actor: await actorOf(server, answer.body.token) };
    },
    async project(name) {
      const slug = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
      return must(await createProject(deps, { name, slug }, OPERATOR)).id;
    },
    async person(project, email, role) {
      return must(await createPerson(deps, { email, name: email.split('@')[0] ?? '', password: PASSWORD, project, role }, OPERATOR)).id;
    },
    async close() {
      await app.close();
      await deps.store.close();
      await db.close();
    },
  };
  return server;
}

export interface Cast {
  project: string;
  admin: PersonActor;
  reviewer: PersonActor;
  /** Admin of another project. */
  stranger: PersonActor;
  /** A request to `/api/v1/settings/…`. */
  settings(actor: PersonActor, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
}

/** A project with an admin and a reviewer, and somebody from elsewhere, all signed in. */
export async function castOf(server: Server): Promise<Cast> {
  const project = await server.project('Mail');
  await server.person(project, 'admin@example.com', 'admin');
  await server.person(project, 'reviewer@example.com', 'reviewer');
  await server.person(await server.project('Other'), 'stranger@example.com', 'admin');
  const [admin, reviewer, stranger] = [
    (await server.signIn('admin@example.com')).actor,
    (await server.signIn('reviewer@example.com')).actor,
    (await server.signIn('stranger@example.com')).actor,
  ];
  const settings: Cast['settings'] = (actor, method, path, body) => server.ask(actor, method, `/api/v1/settings/${path}`, body);
  return { project, admin, reviewer, stranger, settings };
}

/** The person a session token belongs to, as the gateway finds out. */
export async function actorOf(server: Server, token: string): Promise<PersonActor> {
  const reply = await authenticate(server.deps, { via: 'bearer', credential: token, ip: '203.0.113.1' });
  if (reply.actor?.kind !== 'person') throw new Error(`The session was refused: ${reply.refusal?.code}`);
  return reply.actor;
}

export function must<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`Refused: ${outcome.refusal.code}`);
  return outcome.value;
}

/** Where an answer is not what its operation says. */
export function breaches(operation: OperationId, answer: Answer): unknown[] {
  const schema = (operationOf(operation).responses as Record<number, TSchema>)[answer.status];
  if (!schema) return [`${operation} does not answer ${answer.status} ${JSON.stringify(answer.body)}`];
  const result = validator(schema, 'exact')(answer.body);
  return result.ok ? [] : result.issues;
}

/** The code of an error body. */
export const code = (answer: Answer): string | undefined => answer.body?.error?.code;
