/** The running product as somebody meets it who sends it nonsense: every route with objects that exist and a credential that may use it. */

import { Agent, request } from 'node:http';
import {
  ERRORS,
  ErrorBody,
  type ErrorCode,
  errorsOf,
  OPERATIONS,
  type Operation,
  type OperationId,
  ROUTING_ERRORS,
  SCOPES,
  validator,
} from '@countersign/contracts';
import { until } from '@countersign/platform/fixture';
import type { OpenApi } from '../e2e/answers.js';
import { footprint } from '../e2e/footprint.js';
import { Caller, Server } from '../e2e/server.js';
import { startAllInOne, type Topology } from '../e2e/topology.js';

export type Route = Operation & { id: OperationId };
export const ROUTES = OPERATIONS as readonly Route[];

export interface Sent {
  method?: string;
  /** Value of the one path parameter; an object of the right kind when omitted. Written as it is, without encoding. */
  parameter?: string;
  /** With its question mark. */
  query?: string;
  headers?: Record<string, string>;
  /** A list is sent piece by piece, without a length. */
  body?: string | Buffer | readonly Buffer[];
}

/** An answer, whatever it is. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

export interface Refusal {
  status: number;
  code: string;
  param?: string;
}

const isErrorBody = validator(ErrorBody, 'exact');

export interface Target {
  server: Server;
  document: OpenApi;
  /** A key with every scope. */
  key: Caller;
  /** Objects of each kind that stands in a path, by what the path says before it. */
  objects: Record<string, readonly string[]>;
  objectsOf(route: Route): readonly string[];
  send(route: Route, sent?: Sent): Promise<Answer>;
  /** To any address; written as it is, where fetch would first make an address of it. */
  ask(method: string, address: string, headers?: Record<string, string>, body?: Sent['body']): Promise<Answer>;
  /** Who may use a route at all. */
  credential(route: Route): Record<string, string>;
  /** Everything stored. */
  footprint(): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Slow senders are given a second or two, so that a test need not wait for them long. The heap is small, so that what is kept for ever ends the
 * process, while what only awaits collection cannot look like it.
 */
const SETTINGS = {
  PASSWORD_COST: '10',
  HEADERS_TIMEOUT: '1s',
  REQUEST_TIMEOUT: '2s',
  NODE_OPTIONS: '--max-old-space-size=256',
};

/** @param settings of its environment, beside those above. */
export async function startTarget(
  settings: Record<string, string> = {},
  start: (settings: Record<string, string>) => Promise<Topology> = startAllInOne,
): Promise<Target> {
  const server = await Server.start(await start({ ...SETTINGS, ...settings }));
  const { admin, agent, url } = server;
  const key = await server.key({ name: 'nonsense', scopes: [...SCOPES] });
  const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApi;

  const several = <T>(count: number, make: (n: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, n) => make(n)));
  const reviews = await several(12, () => server.ask());
  const templates = await several(6, (n) => server.publish({ slug: `target-${n}` }));
  const keys = await several(3, () => admin.do('createApiKey', { body: { name: 'spare', scopes: ['reviews:read'] } }));
  const invitation = async (n: number) => {
    const { invite_url } = await admin.do('inviteMember', { body: { email: `target-${n}@demo.example` } });
    return /[^/#=]+$/.exec(invite_url)?.[0] ?? '';
  };
  const [joins = '', ...invitations] = await several(3, invitation);
  const body = { name: 'Spare', password: 'a-long-sentence-nobody-guesses-7' };
  const { reviewer: spare } = await new Caller(url, null, server.answers).do('acceptInvite', { path: { token: joins }, body });
  const sessions = (await admin.do('listSessions')).items;
  const { id: delivered } = await server.ask({ callback_url: server.receiver.url('/target') });
  await agent.do('withdrawReview', { path: { id: delivered } });
  const delivery = await until('a delivery to arrive', async () => {
    const { items } = await admin.do('listDeliveries', { query: { review_id: delivered, status: 'delivered' } });
    return items[0];
  });
  const objects: Target['objects'] = {
    reviews: reviews.map(({ id }) => id),
    templates: templates.map(({ id }) => id),
    'settings/api-keys': keys.map(({ id }) => id),
    'settings/team': [spare.id],
    'auth/sessions': sessions.map(({ id }) => id),
    'auth/invite': invitations,
    'webhooks/deliveries': [delivery.id],
  };

  const bearer = (caller: Caller) => ({ authorization: `Bearer ${caller.bearer}` });
  const credential = ({ access }: Route): Record<string, string> => (access === 'public' ? {} : bearer(access === 'key' ? key : admin));
  const objectsOf = ({ path }: Route): readonly string[] => {
    if (!path.includes('{')) return [''];
    const found = objects[/^\/api\/v1\/(.*?)\/\{/.exec(path)?.[1] ?? ''];
    if (found === undefined) throw new Error(`There is no object for ${path}: name one above.`);
    return found;
  };
  const connections = new Agent({ keepAlive: true, maxSockets: 8 });
  const ask: Target['ask'] = (method, address, headers = {}, body) =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request(`${url}${address}`, { method, headers, agent: connections, path: address }, async (response) => {
        const chunks = await response.toArray().catch(reject);
        if (chunks) resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') });
      });
      // The server may end a connection while it is taken for the next request.
      sent.on('error', (error) => (sent.reusedSocket ? ask(method, address, headers, body).then(resolve, reject) : reject(error)));
      if (Array.isArray(body)) for (const piece of body) sent.write(piece);
      sent.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : undefined);
    });
  await until('the delivery to be in the log', async () => {
    const { items } = await admin.do('listAuditEvents', { query: { action: ['delivery.succeeded'] } });
    return items.length > 0;
  });

  return {
    server,
    document,
    key,
    objects,
    objectsOf,
    credential,
    ask,
    send: (route, { method = route.method, parameter, query = '', headers, body } = {}) => {
      const path = route.path.replace(/\{\w+\}/, () => parameter ?? objectsOf(route)[0] ?? '');
      return ask(method, `${path}${query}`, { ...credential(route), ...headers }, body);
    },
    footprint: () => footprint(server.topology),
    stop: () => {
      connections.destroy();
      return server.stop();
    },
  };
}

/** An answer as a refusal. @throws {Error} when it is none, or not as every refusal is: JSON, of the catalogue, with its status. */
export function refusalOf({ status, headers, text }: Answer, route?: Route): Refusal {
  const about = `${status} ${text.slice(0, 500)}`;
  if (status < 400) throw new Error(`It was not refused: ${about}`);
  if (!headers['content-type']?.includes('application/json')) throw new Error(`The refusal is not JSON: ${about}`);
  if (!/^[\w.-]{8,128}$/.test(String(headers['x-request-id']))) throw new Error(`The refusal has no request id: ${about}`);
  const read = isErrorBody(JSON.parse(text));
  if (!read.ok) throw new Error(`The refusal is not an error body: ${about}`);
  const { code, type, param } = read.value.error;
  const entry = ERRORS[code as ErrorCode];
  if (entry?.status !== status || entry.type !== type) throw new Error(`The catalogue has it otherwise: ${about}`);
  if (status >= 500) throw new Error(`A fault of the server: ${about}`);
  if (route && ![...errorsOf(route), ...ROUTING_ERRORS].includes(code as ErrorCode))
    throw new Error(`${route.id} has no such code: ${about}`);
  return { status, code, ...(param === undefined ? {} : { param }) };
}

/** Works on all of them, a few at a time. @returns what came of those that did not go as they should. */
export async function faults<T>(all: readonly T[], name: (one: T) => string, work: (one: T) => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  const left = all.values();
  const worker = async () => {
    for (const one of left) await work(one).catch((error: Error) => found.push(`${name(one)}: ${error.message}`));
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return found;
}
