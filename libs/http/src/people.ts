import type { PeopleReply } from '@countersign/contracts';
import type { ServiceClient } from './client/client.js';

export type ProjectPerson = PeopleReply['people'][number];

/**
 * The active person of a project an e-mail address or id names, as the directory knows them now; null for nobody.
 * @throws {Problem} `service_unavailable` when the directory does not answer.
 */
export async function findPerson(
  client: ServiceClient,
  request: { project_id: string; ref: string; request_id: string },
): Promise<ProjectPerson | null> {
  const query = new URLSearchParams({ project_id: request.project_id, ref: request.ref });
  const answer = await client.call<PeopleReply>('directory', {
    method: 'GET',
    path: `/internal/people?${query}`,
    actor: { kind: 'anonymous' },
    request_id: request.request_id,
  });
  if (answer.status !== 200) throw new Error(`The directory answered ${answer.status} to a look-up of a person.`);
  return answer.body.people[0] ?? null;
}

/** Whether an assignee is a role (`role:admin`) and not a person. */
export const isRoleRef = (ref: string): boolean => /^role:(admin|reviewer)$/.test(ref);
