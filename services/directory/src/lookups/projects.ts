import { idOf } from '@countersign/event-store';
import type { DirectoryDeps } from '../deps.js';
import { slugKey } from '../project/decider.js';
import { catchUpAll } from './catch-up.js';

type Deps = Pick<DirectoryDeps, 'store' | 'pool'>;

export interface FoundProject {
  id: string;
  name: string;
  slug: string;
  createdAt: string;
}

/** The project a slug is reserved for, or null. */
export async function findProjectBySlug(deps: Deps, slug: string): Promise<FoundProject | null> {
  const id = await deps.store.reservation(slugKey(slug));
  if (id === null) return null;
  return (await listProjects(deps)).find((project) => project.id === id) ?? null;
}

/** Every project of the installation, the oldest first. For operators: it first catches up whatever is behind. */
export async function listProjects(deps: Deps): Promise<FoundProject[]> {
  await catchUpAll(deps);
  const { rows } = await deps.pool.query<{ id: string; name: string; slug: string; created_at: Date }>(
    'select id, name, slug, created_at from directory.projects order by created_at, id',
  );
  return rows.map((row) => ({ id: idOf('prj', row.id), name: row.name, slug: row.slug, createdAt: row.created_at.toISOString() }));
}
