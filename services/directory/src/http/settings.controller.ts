import {
  type ApiKey,
  ApiKeyCreate,
  type ApiKeyList,
  ApiKeyUpdate,
  type HmacSecret,
  type HmacSecretInfo,
  HmacSecretRotate,
  type HmacSecretRotated,
  IdParams,
  type Project,
  ProjectUpdate,
} from '@countersign/contracts';
import { type CallerIdentity, contract, Identity, listBody, Problem, type Reply, respond } from '@countersign/http';
import { Body, Controller, Delete, Get, Inject, Param, Post, Put } from '@nestjs/common';
import { changeApiKey, createApiKey, deleteApiKey, lastUses, rotateApiKey } from '../commands/keys.js';
import {
  changeProject,
  promoteWebhookSecret,
  readProject,
  revealWebhookSecret,
  rotateWebhookSecret,
  webhookSecrets,
} from '../commands/projects.js';
import { DEPS, type DirectoryDeps } from '../deps.js';
import { keysOf } from '../lookups/keys.js';
import { accepted, adminOf, metaOf, personOf } from './caller.js';
import { keyView, projectView, secretInfoView, secretView } from './views.js';

/** A raw key is in the answer. */
const NO_STORE = { 'Cache-Control': 'no-store' };

/** A project, its keys and its webhook secret (HRP §1.6, §10, §13). */
@Controller('/api/v1/settings')
export class SettingsController {
  constructor(@Inject(DEPS) private readonly deps: DirectoryDeps) {}

  @Get('project')
  async project(@Identity() identity: CallerIdentity): Promise<Project> {
    const id = personOf(identity).project_id;
    const found = await readProject(this.deps, id);
    if (!found) throw new Problem('project_not_found');
    return projectView(id, found.project);
  }

  @Put('project')
  async updateProject(@Identity() identity: CallerIdentity, @Body(contract(ProjectUpdate)) body: ProjectUpdate): Promise<Reply<Project>> {
    const id = adminOf(identity).project_id;
    const { value, seen } = accepted(await changeProject(this.deps, id, body, metaOf(identity)));
    return respond(projectView(id, value), { seen });
  }

  @Get('api-keys')
  async keys(@Identity() identity: CallerIdentity): Promise<ApiKeyList> {
    const keys = await keysOf(this.deps, adminOf(identity).project_id);
    const uses = await lastUses(
      this.deps,
      keys.map(({ id }) => id),
    );
    const items = keys.map(({ id, key }) => keyView(id, key, uses.get(id) ?? null));
    return listBody(items, { total: items.length, hasMore: false });
  }

  @Post('api-keys')
  async createKey(@Identity() identity: CallerIdentity, @Body(contract(ApiKeyCreate)) body: ApiKeyCreate): Promise<Reply<ApiKey>> {
    const admin = adminOf(identity);
    const input = { owner: admin.person_id, ...body };
    const { id, key, rawKey, seen } = accepted(await createApiKey(this.deps, admin.project_id, input, metaOf(identity)));
    return respond(keyView(id, key, null, rawKey), { status: 201, seen, headers: NO_STORE });
  }

  @Put('api-keys/:id')
  async updateKey(
    @Identity() identity: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(ApiKeyUpdate)) body: ApiKeyUpdate,
  ): Promise<Reply<ApiKey>> {
    const { value, seen } = accepted(await changeApiKey(this.deps, { id, project: adminOf(identity).project_id }, body, metaOf(identity)));
    return respond(await this.#shown(id, value), { seen });
  }

  @Delete('api-keys/:id')
  async deleteKey(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams): Promise<Reply<undefined>> {
    const { seen } = accepted(await deleteApiKey(this.deps, { id, project: adminOf(identity).project_id }, metaOf(identity)));
    return respond(undefined, { status: 204, seen });
  }

  @Post('api-keys/:id/rotate')
  async rotateKey(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams): Promise<Reply<ApiKey>> {
    const rotated = accepted(await rotateApiKey(this.deps, { id, project: adminOf(identity).project_id }, metaOf(identity)));
    return respond(await this.#shown(id, rotated.key, rotated.rawKey), { seen: rotated.seen, headers: NO_STORE });
  }

  @Get('hmac-secret')
  async secret(@Identity() identity: CallerIdentity): Promise<HmacSecretInfo> {
    const secrets = await webhookSecrets(this.deps, adminOf(identity).project_id);
    if (!secrets) throw new Problem('project_not_found');
    return secretInfoView(secrets);
  }

  @Post('hmac-secret/reveal')
  async reveal(@Identity() identity: CallerIdentity): Promise<HmacSecret> {
    const secrets = accepted(await revealWebhookSecret(this.deps, adminOf(identity).project_id, metaOf(identity)));
    return secretView(secrets);
  }

  @Post('hmac-secret/rotate')
  async rotate(@Identity() identity: CallerIdentity, @Body(contract(HmacSecretRotate)) body: HmacSecretRotate): Promise<HmacSecretRotated> {
    const project = adminOf(identity).project_id;
    const { secret, promoteAt } = accepted(await rotateWebhookSecret(this.deps, project, body.promote_at ?? null, metaOf(identity)));
    return { pending_secret: secret, promote_at: promoteAt };
  }

  @Post('hmac-secret/promote')
  async promote(@Identity() identity: CallerIdentity): Promise<HmacSecretInfo> {
    const secrets = accepted(await promoteWebhookSecret(this.deps, adminOf(identity).project_id, metaOf(identity)));
    return secretInfoView(secrets);
  }

  async #shown(id: string, key: Parameters<typeof keyView>[1], rawKey?: string): Promise<ApiKey> {
    return keyView(id, key, (await lastUses(this.deps, [id])).get(id) ?? null, rawKey);
  }
}
