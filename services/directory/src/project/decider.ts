import type { Decision } from '@countersign/event-store';
import { type RefusalCode, refuse } from '../refusals.js';
import { type Project, type ProjectEvent, secretsAt } from './project.js';

/** Commands on the project itself and on its signing secret. The secret's value is never here, only the fingerprint of its row. */
type ProjectDecision = Decision<ProjectEvent, RefusalCode>;

const noProject = (): ProjectDecision => ({ events: [], refusal: refuse('project_not_found', 'No such project.') });

/** The key under which a slug is reserved in the whole installation (K5). */
export const slugKey = (slug: string): string => `project-slug:${slug}`;

export function createProject(
  state: Project,
  command: { name: string; slug: string; description: string | null; secretFingerprint: string },
): ProjectDecision {
  if (state.status !== 'none') {
    const same = state.status === 'active' && state.slug === command.slug && state.name === command.name;
    return same ? { events: [] } : { events: [], refusal: refuse('slug_already_exists', 'This project id is already in use.') };
  }
  const { name, slug, description, secretFingerprint } = command;
  return {
    events: [
      { type: 'project.created', body: { name, slug, description } },
      { type: 'secret.created', body: { fingerprint: secretFingerprint } },
    ],
    reserve: [slugKey(slug)],
  };
}

export function changeProject(state: Project, command: { name?: string; description?: string | null }): ProjectDecision {
  if (state.status !== 'active') return noProject();
  const changed = {
    ...(command.name !== undefined && command.name !== state.name ? { name: command.name } : {}),
    ...(command.description !== undefined && command.description !== state.description ? { description: command.description } : {}),
  };
  return { events: Object.keys(changed).length > 0 ? [{ type: 'project.changed', body: changed }] : [] };
}

/**
 * Adds a second secret beside the active one (decision 11). A promotion whose time has come is written down first.
 * The longest a promotion may be planned ahead is 90 days: an overlap is a transition.
 */
export function rotateSecret(state: Project, command: { fingerprint: string; promoteAt: string | null }, now: string): ProjectDecision {
  if (state.status !== 'active') return noProject();
  const { active, pending } = secretsAt(state.secrets, now);
  if (pending?.fingerprint === command.fingerprint || active === command.fingerprint) return { events: [] };
  if (pending) {
    const message = 'A new secret is already waiting to be promoted. Promote it before the next rotation.';
    return { events: [], refusal: refuse('rotation_pending', message) };
  }
  const { promoteAt } = command;
  if (promoteAt !== null && (promoteAt <= now || Date.parse(promoteAt) - Date.parse(now) > 90 * 86_400_000)) {
    const message = 'promote_at must be in the future, at most 90 days ahead.';
    return { events: [], refusal: refuse('validation_failed', message, { param: 'body.promote_at' }) };
  }
  return {
    events: [...overdue(state, now), { type: 'secret.rotated', body: { fingerprint: command.fingerprint, promote_at: promoteAt } }],
  };
}

/** The pending secret becomes the active one, the old one ends. Asked for again: nothing happens. */
export function promoteSecret(state: Project, now: string): ProjectDecision {
  if (state.status !== 'active') return noProject();
  const { pending } = state.secrets;
  if (pending) return { events: [{ type: 'secret.promoted', body: { fingerprint: pending.fingerprint } }] };
  if (state.promoted === state.secrets.active) return { events: [] };
  return { events: [], refusal: refuse('no_pending_secret', `There is no new secret to promote (at ${now}). Rotate first.`) };
}

/** Who looked at the secret is a fact. */
export function revealSecret(state: Project, now: string): ProjectDecision {
  if (state.status !== 'active') return noProject();
  const { active, pending } = secretsAt(state.secrets, now);
  return { events: [{ type: 'secret.revealed', body: { fingerprints: pending ? [active, pending.fingerprint] : [active] } }] };
}

function overdue(state: Project, now: string): ProjectEvent[] {
  if (state.status !== 'active' || !state.secrets.pending || secretsAt(state.secrets, now).pending) return [];
  return [{ type: 'secret.promoted', body: { fingerprint: state.secrets.pending.fingerprint } }];
}
