import type { WebhookSecretsReply } from '@countersign/contracts';
import type { ServiceClient } from '@countersign/http';
import type { SigningSecrets } from '../message/signing.js';

/** The secrets could not be had: nothing is wrong with the delivery, and nothing was sent. */
export class SecretsUnavailable extends Error {
  override readonly name = 'SecretsUnavailable';
}

/** The secrets of a project (`prj_…`) as they are now. @throws {SecretsUnavailable} */
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
    const asked = ask(client, project)
      .catch((cause: unknown) => {
        throw new SecretsUnavailable(`The signing secrets of ${project} are unavailable.`, { cause });
      })
      .finally(() => asking.delete(project));
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
