import type { Member } from '@countersign/contracts';
import { useEffect, useState } from 'react';
import { useApi } from '../api/api-context.js';
import { useSession } from '../session/session-context.js';

/** The people of the project by id, for naming them; empty until they are known. */
export function useProjectPeople(): ReadonlyMap<string, Member> {
  const api = useApi();
  const { project } = useSession();
  const [people, setPeople] = useState<ReadonlyMap<string, Member>>(new Map());
  useEffect(() => {
    const left = new AbortController();
    api
      .call('listMembers', { project: project.id }, left.signal)
      .then(({ items }) => setPeople(new Map(items.map((member) => [member.id, member]))))
      // Names are a convenience: without them e-mail addresses and ids stand in their place.
      .catch(() => {});
    return () => left.abort();
  }, [api, project.id]);
  return people;
}
