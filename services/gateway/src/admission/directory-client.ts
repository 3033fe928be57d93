import type { ActorsReply, ActorsRequest, AgentActor, AuthenticateReply, AuthenticateRequest, PersonActor } from '@countersign/contracts';
import { Problem, type ServiceClient } from '@countersign/http';

/** What the gateway asks the directory (contracts/src/internal.ts). The answer is never kept: a revoked credential is out at once (K16). */
export class DirectoryClient {
  constructor(private readonly client: ServiceClient) {}

  /** @throws {Problem} the directory's refusal, or `service_unavailable`. */
  async authenticate(request: AuthenticateRequest, requestId: string, signal?: AbortSignal): Promise<AgentActor | PersonActor> {
    const reply = await this.#ask<AuthenticateReply>('/internal/authenticate', request, requestId, signal);
    if (reply.actor) return reply.actor;
    throw new Problem(reply.refusal.code, reply.refusal.message);
  }

  async actors(request: ActorsRequest, requestId: string): Promise<ActorsReply> {
    return this.#ask<ActorsReply>('/internal/actors', request, requestId);
  }

  async #ask<T>(path: string, body: unknown, requestId: string, signal?: AbortSignal): Promise<T> {
    const answer = await this.client.call<T>('directory', {
      method: 'POST',
      path,
      body,
      actor: { kind: 'anonymous' },
      request_id: requestId,
      repeatable: true,
      ...(signal ? { signal } : {}),
    });
    if (answer.status === 200) return answer.body;
    if (answer.status === 503)
      throw new Problem('service_unavailable', 'Credentials cannot be checked right now. Try again.', { headers: { 'Retry-After': '1' } });
    throw new Error(`The directory answered ${answer.status} to ${path}.`);
  }
}
