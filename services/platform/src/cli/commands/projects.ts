import { createProject, OPERATOR, webhookSecrets } from '@countersign/directory/administration';
import type { Work } from '../command.js';
import { accepted, accessDirectory } from '../directory-access.js';
import { Refused } from '../failure.js';

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

function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (slug === '') throw new Refused(`No slug can be derived from "${name}". Set one with --slug.`);
  return slug;
}
