import { ProjectCreated } from '@countersign/contracts';
import { type EventMeta, newId } from '@countersign/event-store';
import { sealingKeys } from '../config.js';
import { readSecret, writeSecret } from '../credentials/rows.js';
import { newWebhookSecret, WEBHOOK_SECRET } from '../credentials/webhook-secret.js';
import type { DirectoryDeps } from '../deps.js';
import {
  changeProject as decideChange,
  createProject as decideCreate,
  promoteSecret,
  revealSecret,
  rotateSecret,
} from '../project/decider.js';
import { type ActiveProject, type Project, type ProjectEvent, projectFold, secretsAt } from '../project/project.js';
import { done, type Outcome, refuse, refused } from '../refusals.js';
import { bodyRefusal } from './body.js';
import { utcOf } from './utc.js';
import { onProject } from './write.js';

/** Projects and their signing secrets. */
export interface CreateProject {
  /** Given by a caller that may have to repeat the command; made when omitted. */
  id?: string;
  name: string;
  slug: string;
  description?: string | null;
  /** 64 hex digits; made when omitted. */
  webhookSecret?: string;
}

export interface Written<T> {
  value: T;
  /** For `Countersign-Seen`. */
  seen: { position: number; events: readonly { bucket: number }[] };
}

const active = (state: Project): ActiveProject => {
  if (state.status !== 'active') throw new Error('A project without events was accepted by its rules.');
  return state;
};

export async function createProject(
  deps: DirectoryDeps,
  command: CreateProject,
  meta: EventMeta,
): Promise<Outcome<{ id: string; project: ActiveProject }>> {
  const id = command.id ?? newId('prj');
  const secret = command.webhookSecret ?? newWebhookSecret();
  if (!WEBHOOK_SECRET.test(secret)) throw new Error('A webhook secret must be 64 lowercase hex digits.');
  const { name, slug, description = null } = command;
  const fault = bodyRefusal(ProjectCreated, { name, slug, description });
  if (fault) return refused(fault);
  const secretFingerprint = await writeSecret(deps.pool, sealingKeys(deps.config), id, secret);
  const handled = await onProject(deps, id, meta, (state) => decideCreate(state, { name, slug, description, secretFingerprint }));
  return handled.refusal ? refused(handled.refusal) : done({ id, project: active(handled.state) });
}

export async function changeProject(
  deps: DirectoryDeps,
  id: string,
  change: { name?: string; description?: string | null },
  meta: EventMeta,
): Promise<Outcome<Written<ActiveProject>>> {
  const handled = await onProject(deps, id, meta, (state) => decideChange(state, change));
  return handled.refusal ? refused(handled.refusal) : done({ value: active(handled.state), seen: handled });
}

/** A project by folding its stream; null when there is none. */
export async function readProject(deps: Pick<DirectoryDeps, 'store'>, id: string): Promise<{ project: ActiveProject; now: string } | null> {
  const loaded = await deps.store.readStream<ProjectEvent>(id);
  const state = loaded.events.reduce((s, event) => projectFold.evolve(s, event), projectFold.initial());
  return state.status === 'active' ? { project: state, now: loaded.now } : null;
}

/** The signing secrets in force: what a delivery is signed with. */
export interface WebhookSecrets {
  active: { secret: string; fingerprint: string };
  pending: { secret: string; fingerprint: string; promoteAt: string | null } | null;
}

/** Null when there is no such project. @throws {SealBroken} when the configuration's key does not open them. */
export async function webhookSecrets(deps: DirectoryDeps, id: string): Promise<WebhookSecrets | null> {
  const found = await readProject(deps, id);
  return found ? openSecrets(deps, id, found.project, found.now) : null;
}

async function openSecrets(deps: DirectoryDeps, id: string, project: ActiveProject, now: string): Promise<WebhookSecrets> {
  const { active: current, pending } = secretsAt(project.secrets, now);
  const open = (fingerprint: string) => readSecret(deps.pool, sealingKeys(deps.config), id, fingerprint);
  return {
    active: { fingerprint: current, secret: await open(current) },
    pending: pending && { ...pending, secret: await open(pending.fingerprint) },
  };
}

/** As {@link webhookSecrets}, for a person to see: recorded before it is answered. */
export async function revealWebhookSecret(deps: DirectoryDeps, id: string, meta: EventMeta): Promise<Outcome<WebhookSecrets>> {
  const handled = await onProject(deps, id, meta, revealSecret);
  return handled.refusal ? refused(handled.refusal) : done(await openSecrets(deps, id, active(handled.state), handled.now));
}

export async function rotateWebhookSecret(
  deps: DirectoryDeps,
  id: string,
  promoteAt: string | null,
  meta: EventMeta,
): Promise<Outcome<{ secret: string; promoteAt: string | null }>> {
  const at = utcOf(promoteAt);
  if (promoteAt !== null && at === null) {
    return refused(refuse('validation_failed', 'promote_at is not a date and time.', { param: 'body.promote_at' }));
  }
  const secret = newWebhookSecret();
  const fingerprint = await writeSecret(deps.pool, sealingKeys(deps.config), id, secret);
  const handled = await onProject(deps, id, meta, (state, now) => rotateSecret(state, { fingerprint, promoteAt: at }, now));
  return handled.refusal ? refused(handled.refusal) : done({ secret, promoteAt: at });
}

export async function promoteWebhookSecret(deps: DirectoryDeps, id: string, meta: EventMeta): Promise<Outcome<WebhookSecrets>> {
  const handled = await onProject(deps, id, meta, promoteSecret);
  return handled.refusal ? refused(handled.refusal) : done(await openSecrets(deps, id, active(handled.state), handled.now));
}
