import { type AgentActor, CLIENT_IP_HEADER, DEVICE_COOKIE, metaOf as metaOfCaller, type PersonActor } from '@countersign/contracts';
import type { EventMeta } from '@countersign/event-store';
import { type CallerIdentity, Problem, retryAfter } from '@countersign/http';
import type { Outcome } from '../refusals.js';
import type { Client } from '../sign-in/client.js';
import { cookieValue } from './cookies.js';

type Headers = Record<string, string | string[] | undefined>;

const single = (value: string | string[] | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Where the request comes from, as the gateway passes it on. */
export function clientOf(headers: Headers, keepsCookies = false): Client {
  return {
    ip: single(headers[CLIENT_IP_HEADER]),
    userAgent: single(headers['user-agent']),
    deviceToken: cookieValue(single(headers.cookie) ?? undefined, DEVICE_COOKIE),
    keepsCookies,
  };
}

/** @throws {Problem} `missing_token`: the gateway lets nobody else through to these routes. */
export function personOf({ actor }: CallerIdentity): PersonActor {
  if (actor.kind !== 'person') throw new Problem('missing_token');
  return actor;
}

/** An admin of the project the request works in. @throws {Problem} */
export function adminOf(identity: CallerIdentity): PersonActor {
  const person = personOf(identity);
  if (person.roles[person.project_id] !== 'admin') throw new Problem('forbidden', 'Only an admin of the project may do this.');
  return person;
}

/** @throws {Problem} `missing_api_key`. */
export function agentOf({ actor }: CallerIdentity): AgentActor {
  if (actor.kind !== 'agent') throw new Problem('missing_api_key');
  return actor;
}

/** Who caused an event; no route of the directory lets a key change anything. @throws {Problem} `missing_token`. */
export const metaOf = (identity: CallerIdentity): EventMeta => metaOfCaller({ actor: personOf(identity), request_id: identity.request_id });

/** The value of an outcome. @throws {Problem} its refusal, as the caller is told it. */
export function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { code, message, param, retryAfterSeconds } = outcome.refusal;
  throw new Problem(code, message, { param, headers: retryAfterSeconds === undefined ? undefined : retryAfter(retryAfterSeconds) });
}
