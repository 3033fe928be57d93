/**
 * Who comes in, and to what (HRP §0; decision 7). Runs on the headers alone, before a byte of the body is read.
 *
 * A1 The order is credential, kind of caller, role, scope, rate limit; the schema and everything about an object come after, in the service.
 * A2 The table of operations is the only source: a route without a row is not admitted to anything.
 * A3 A request on the inbox's cookie comes from the inbox itself, or is refused before the cookie is looked at.
 */
import type { Actor, AgentActor, Operation, PersonActor } from '@countersign/contracts';
import { Problem } from '@countersign/http';
import type { FastifyRequest } from 'fastify';
import type { Tickets } from '../stream/tickets.js';
import { callerId, type Denial, denyForeignProject, denyKnown, denyUnseen } from './access.js';
import { type Credential, credentialOf } from './credential.js';
import { isCrossSite } from './cross-site.js';
import type { DirectoryClient } from './directory-client.js';
import type { KeyLimits } from './limits.js';

export interface Admitted {
  operation: Operation;
  actor: Actor;
  /** Key or person; null for the public. */
  caller: string | null;
}

export class Admission {
  constructor(
    private readonly parts: {
      directory: DirectoryClient;
      limits: KeyLimits;
      tickets: Tickets;
      allowedOrigin: string | undefined;
    },
  ) {}

  /** @throws {Problem} the refusal. */
  async admit(operation: Operation, request: FastifyRequest): Promise<Admitted> {
    const credential = credentialOf(request);
    this.#refuseCrossSite(operation, request, credential);
    if (operation.access === 'public') return { operation, actor: { kind: 'anonymous' }, caller: null };

    const actor = await this.#identify(operation, request, credential);
    refuse(denyForeignProject(actor, request.headers['x-project-id']));
    refuse(denyKnown(operation, actor));
    if (operation.limited && actor.kind === 'agent') await this.parts.limits.count(actor.key_id, actor.rate_limit_per_hour);
    return { operation, actor, caller: callerId(actor) };
  }

  async #identify(operation: Operation, request: FastifyRequest, credential: Credential | null): Promise<AgentActor | PersonActor> {
    if (operation.ticket) {
      const { ticket } = (request.query ?? {}) as { ticket?: unknown };
      if (ticket !== undefined) return this.parts.tickets.redeem(String(ticket), request.id);
      if (credential === null) throw new Problem('missing_ticket');
    }
    refuse(denyUnseen(operation, credential));
    const { via, text } = credential as Credential;
    const project = request.headers['x-project-id'];
    try {
      return await this.parts.directory.authenticate(
        { via, credential: text, ip: request.ip, ...(typeof project === 'string' && project !== '' ? { project_id: project } : {}) },
        request.id,
      );
    } catch (error) {
      // A key route that answers sessions with 403 still tells a text that is neither what it wants.
      if (operation.access === 'key' && error instanceof Problem && error.code === 'invalid_token')
        throw new Problem('invalid_api_key_format');
      throw error;
    }
  }

  #refuseCrossSite(operation: Operation, request: FastifyRequest, credential: Credential | null): void {
    const onCookie = credential?.via === 'cookie' && operation.access !== 'public';
    const setsCookie = operation.errors.includes('csrf_failed');
    if (!onCookie && !setsCookie) return;
    if (isCrossSite(request, { allowedOrigin: this.parts.allowedOrigin, onCookie })) throw new Problem('csrf_failed');
  }
}

function refuse(denial: Denial | null): void {
  if (denial === null) return;
  const { code, message, missing_scopes } = denial;
  throw new Problem(code, message, missing_scopes ? { extra: { missing_scopes } } : {});
}
