import {
  type ActorsReply,
  ActorsRequest,
  type AuthenticateReply,
  AuthenticateRequest,
  IdParams,
  PeopleQuery,
  type PeopleReply,
  type WebhookSecretsReply,
} from '@countersign/contracts';
import { isId } from '@countersign/event-store';
import { contract, Problem, type Reply, respond } from '@countersign/http';
import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import { authenticate } from '../authentication/authenticate.js';
import { goodKeys } from '../authentication/keys.js';
import { openSessions } from '../authentication/people.js';
import { webhookSecrets } from '../commands/projects.js';
import { standardSecret } from '../credentials/webhook-secret.js';
import { DEPS, type DirectoryDeps } from '../deps.js';
import { findMember, type ProjectPerson, peopleOf } from '../lookups/people.js';

const NO_STORE = { 'Cache-Control': 'no-store' };

/** What the gateway and the other services ask (contracts/src/internal.ts). Signed like every route, and on no public one. */
@Controller('/internal')
export class InternalController {
  constructor(@Inject(DEPS) private readonly deps: DirectoryDeps) {}

  @Post('authenticate')
  authenticate(@Body(contract(AuthenticateRequest)) body: AuthenticateRequest): Promise<AuthenticateReply> {
    return authenticate(this.deps, body);
  }

  @Post('actors')
  async actors(@Body(contract(ActorsRequest)) body: ActorsRequest): Promise<ActorsReply> {
    return { agents: await goodKeys(this.deps, body.key_ids), people: await openSessions(this.deps, body.session_ids) };
  }

  @Get('people')
  async people(@Query(contract(PeopleQuery)) query: PeopleQuery): Promise<PeopleReply> {
    return { people: (await this.#found(query)).map(({ id, email, name, role }) => ({ person_id: id, email, name, role })) };
  }

  @Get('projects/:id/webhook-secrets')
  async secrets(@Param(contract(IdParams)) { id }: IdParams): Promise<Reply<WebhookSecretsReply>> {
    const found = isId('prj', id) ? await webhookSecrets(this.deps, id) : null;
    if (!found) throw new Problem('project_not_found');
    const { active, pending } = found;
    const of = ({ secret, fingerprint }: { secret: string; fingerprint: string }) => ({
      secret,
      standard_secret: standardSecret(secret),
      fingerprint,
    });
    return respond({ active: of(active), pending: pending && { ...of(pending), promote_at: pending.promoteAt } }, { headers: NO_STORE });
  }

  async #found({ project_id, ref }: PeopleQuery): Promise<ProjectPerson[]> {
    if (!isId('prj', project_id)) return [];
    if (ref === undefined) return peopleOf(this.deps, project_id);
    const person = await findMember(this.deps, project_id, ref);
    return person ? [person] : [];
  }
}
