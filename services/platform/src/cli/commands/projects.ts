import { createProject, listProjects, OPERATOR, webhookSecrets } from '@countersign/directory/administration';
import type { Work } from '../command.js';
import { accepted, accessDirectory } from '../directory-access.js';
import { Refused } from '../failure.js';
import { table } from '../output.js';

export const createProjectWork =
  (name: string, options: { slug?: string }): Work =>
  async (connection, output) => {
    const deps = accessDirectory(connection);
    const slug = options.slug ?? slugOf(name);
    const { id } = accepted(await createProject(deps, { name, slug }, OPERATOR));
    const webhookSecret = (await webhookSecrets(deps, id))?.active.secret ?? null;
    output.answer({ id, name, slug, webhook_secret: webhookSecret }, () => [
      `✓ Project ${name} (${slug}): ${id}`,
      `  Webhook secret  ${webhookSecret}`,
      `  Next: countersign users create --project ${slug} --email … --name …, and countersign keys create --project ${slug} --name …`,
    ]);
    return 0;
  };

export const listProjectsWork: Work = async (connection, output) => {
  const projects = await listProjects(accessDirectory(connection));
  output.answer({ projects: projects.map(({ id, slug, name, createdAt }) => ({ id, slug, name, created_at: createdAt })) }, () =>
    projects.length === 0
      ? ['There are no projects. Create one: countersign projects create <name>.']
      : table(
          ['project', 'slug', 'name', 'created'],
          projects.map(({ id, slug, name, createdAt }) => [id, slug, name, createdAt]),
        ),
  );
  return 0;
};

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (slug === '') throw new Refused(`No slug can be derived from "${name}". Set one with --slug.`);
  return slug;
}
