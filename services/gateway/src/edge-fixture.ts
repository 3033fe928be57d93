/**
 * A gateway on a real socket, database, store and bus, in front of services that are made with the same library as the real ones and answer
 * what a test tells them. The directory knows the credentials a test gives it.
 */

import { loadConfig } from '@countersign/config';
import {
  type ActorsReply,
  ActorsRequest,
  type AgentActor,
  type AuthenticateReply,
  AuthenticateRequest,
  type ErrorCode,
  type PersonActor,
  SCOPES,
  type ServiceName,
  validateEvent,
} from '@countersign/contracts';
import { StoreEventBus } from '@countersign/event-bus';
import { newId, PostgresEventStore } from '@countersign/event-store';
import {
  type CallerIdentity,
  contract,
  createServiceApp,
  Identity,
  injectTransport,
  type ReadyCheck,
  ServiceClient,
} from '@countersign/http';
import { createLogger } from '@countersign/telemetry';
import { defaultSets, type TestDatabase, testDatabase } from '@countersign/testing';
import { All, Body, Controller, type DynamicModule, Module, Post, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { GATEWAY_SETTINGS } from './config.js';
import { createGatewayApp, SERVICES } from './gateway-app.js';
import { GATEWAY_MIGRATIONS } from './migrations.js';

const IDENTITY_KEY = 'the key of a test, at least thirty-two characters';
export const CATEGORIES = { review: 'rev', template: 'tpl', project: 'prj', person: 'per', key: 'key', delivery: 'whd' };

/** What a service was asked. */
export interface Asked {
  service: ServiceName;
  method: string;
  path: string;
  headers: Record<string, unknown>;
  body: unknown;
  caller: CallerIdentity;
}

export interface Edge {
  url: string;
  db: TestDatabase;
  store: PostgresEventStore;
  app: NestFastifyApplication;
  /** Credentials and what the directory says of them. */
  credentials: Map<string, AgentActor | PersonActor | { code: ErrorCode }>;
  /** What the services were asked, in order. */
  asked: Asked[];
  /** How they answer; 200 `{}` until a test says otherwise. */
  answer: (asked: Asked) => unknown;
  /** What each service says of itself. */
  checks: Partial<Record<ServiceName, Record<string, ReadyCheck>>>;
  /** Log lines of the gateway. */
  lines: Record<string, unknown>[];
  fetch(path: string, init?: RequestInit & { key?: string }): Promise<Response>;
  /** A second gateway on the same database, with its own memory. */
  sibling(): Promise<{ url: string; close(): Promise<void> }>;
  close(): Promise<void>;
}

export function anAgent(changes: Partial<AgentActor> = {}): AgentActor {
  return {
    kind: 'agent',
    key_id: newId('key'),
    key_prefix: 'gwk_aaaaaaaa',
    name: 'an agent',
    project_id: newId('prj'),
    scopes: [...SCOPES],
    template_ids: null,
    owner: null,
    contact: null,
    default_reviewer: null,
    rate_limit_per_hour: null,
    ...changes,
  };
}

export function aPerson(changes: Partial<PersonActor> = {}): PersonActor {
  const project_id = newId('prj');
  return {
    kind: 'person',
    person_id: newId('per'),
    email: 'maya@example.com',
    name: 'Maya',
    project_id,
    roles: { [project_id]: 'reviewer' },
    session_id: newId('ses'),
    auth: { method: 'password', at: '2026-11-30T10:00:00.000Z' },
    ...changes,
  };
}

function serviceModule(service: ServiceName, edge: () => Edge): DynamicModule {
  @Controller()
  class Services {
    @All('*')
    answer(@Req() request: FastifyRequest, @Body() body: unknown, @Identity() caller: CallerIdentity): unknown {
      const asked = { service, method: request.method, path: request.url, headers: request.headers, body, caller };
      edge().asked.push(asked);
      return edge().answer(asked);
    }
  }
  @Controller('internal')
  class Directory {
    @Post('authenticate')
    authenticate(@Body(contract(AuthenticateRequest)) { credential, project_id }: AuthenticateRequest): AuthenticateReply {
      const known = edge().credentials.get(credential) ?? { code: credential.startsWith('gwk_') ? 'invalid_api_key' : 'invalid_token' };
      if ('code' in known) return { refusal: { code: known.code, message: 'Refused.' } };
      if (known.kind === 'agent' || project_id === undefined) return { actor: known };
      if (known.roles[project_id] === undefined) return { refusal: { code: 'forbidden', message: 'No role in this project.' } };
      return { actor: { ...known, project_id } };
    }
    @Post('actors')
    actors(@Body(contract(ActorsRequest)) { key_ids, session_ids }: ActorsRequest): ActorsReply {
      const all = [...edge().credentials.values()];
      return {
        agents: all.filter((a): a is AgentActor => 'kind' in a && a.kind === 'agent' && key_ids.includes(a.key_id)),
        people: all.filter((a): a is PersonActor => 'kind' in a && a.kind === 'person' && session_ids.includes(a.session_id)),
      };
    }
  }
  @Module({})
  class FakeModule {}
  return { module: FakeModule, controllers: service === 'directory' ? [Directory, Services] : [Services] };
}

export async function startEdge(env: Record<string, string> = {}, options: { inboxDirectory?: string } = {}): Promise<Edge> {
  const db = await testDatabase({ sets: [...defaultSets(), GATEWAY_MIGRATIONS] });
  const lines: Record<string, unknown>[] = [];
  const silent = createLogger({ service: 'test', level: 'silent' });
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORIES, validate: validateEvent });
  const bus = new StoreEventBus({ pool: db.pool, store, connectionString: db.ownerUrl, logger: silent });
  const services = new Map<ServiceName, NestFastifyApplication>();
  let edge: Edge;
  for (const service of SERVICES) {
    const app = await createServiceApp(
      serviceModule(service, () => edge),
      {
        service,
        identityKey: IDENTITY_KEY,
        logger: silent,
        ready: async () => edge.checks[service] ?? {},
      },
    );
    services.set(service, app);
  }
  const client = new ServiceClient({ transport: injectTransport(() => Object.fromEntries(services)), identityKey: IDENTITY_KEY });
  const logger = createLogger({
    service: 'gateway',
    level: 'warn',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const gateway = async () => {
    const { gateway: config } = loadConfig({ gateway: GATEWAY_SETTINGS }, env);
    const inboxDirectory = options.inboxDirectory ?? '/nowhere';
    const app = await createGatewayApp({ config, client, bus, store, pool: db.pool, logger, inboxDirectory });
    await app.listen(0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  };
  const { app, url } = await gateway();
  edge = {
    url,
    db,
    store,
    app,
    credentials: new Map(),
    asked: [],
    answer: () => ({}),
    checks: {},
    lines,
    fetch(path, { key, headers, ...init } = {}) {
      return fetch(`${url}${path}`, {
        ...init,
        headers: { ...(key ? { authorization: `Bearer ${key}` } : {}), ...(headers as Record<string, string>) },
      });
    },
    async sibling() {
      const other = await gateway();
      return { url: other.url, close: () => other.app.close() };
    },
    async close() {
      await app.close();
      for (const service of services.values()) await service.close();
      await bus.close();
      await store.close();
      await db.close();
    },
  };
  return edge;
}
