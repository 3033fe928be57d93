import type { WebhookSecretsReply } from '@countersign/contracts';
import type { ServiceClient } from '@countersign/http';
import type { SigningSecrets } from '../signing.js';

/** The secrets of a project as they are now. @throws when they cannot be had; a delivery is then not attempted. */
export type SecretsOf = (project: string) => Promise<SigningSecrets>;

/**
 * Asks the directory, for each attempt: a promoted secret is in force with the next one. Attempts that start while the same question is
 * under way share its answer.
 */
export function directorySecrets(client: ServiceClient): SecretsOf {
  const asking = new Map<string, Promise<SigningSecrets>>();
  return (project) => {
    const already = asking.get(project);
    if (already) return already;
    const asked = ask(client, project).finally(() => asking.delete(project));
    asking.set(project, asked);
    return asked;
  };
}

async function ask(client: ServiceClient, project: string): Promise<SigningSecrets> {
  const answer = await client.call<WebhookSecretsReply>('directory', {
    method: 'GET',
    path: `/internal/projects/${project}/webhook-secrets`,
    actor: { kind: 'anonymous' },
    request_id: `webhooks-${crypto.randomUUID()}`,
    deadlineMs: 5_000,
  });
  if (answer.status !== 200) throw new Error(`The directory answered ${answer.status} to the question for the secrets of ${project}.`);
  return { active: answer.body.active.secret, pending: answer.body.pending?.secret ?? null };
}
