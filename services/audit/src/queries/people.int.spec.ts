/** What the audit log of a project says of people, who belong to the installation (K2): all of its own people, nothing of others. */
import type { AuditEvent, AuditList, AuditVerification } from '@countersign/contracts';
import { INSTALLATION_PROJECT, newId, uuidOf } from '@countersign/event-store';
import { agent, foreignAgent, OTHER_PROJECT, PROJECT } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from '../server-fixture.js';

let server: Server;
const [dora, eve] = [newId('per'), newId('per')];

/** Appends to a stream as the directory would, and waits until the log has it. */
async function happens(stream: string, project: string, ...events: { type: string; body: object }[]): Promise<void> {
  const { version } = await server.store.readStream(stream);
  const meta = { actor: { kind: 'person' as const, id: dora } };
  const { status } = await server.store.append({ streams: [{ stream, project, expectedVersion: version, events }], meta });
  expect(status).toBe('appended');
  await server.bus.caughtUp('audit', (await server.store.head()).position, 'all', 60_000);
}
const joins = (project: string, person: string) =>
  happens(project, project, { type: 'membership.granted', body: { person_id: person, role: 'reviewer', invite_id: null } });
const leaves = (project: string, person: string) =>
  happens(project, project, { type: 'membership.ended', body: { person_id: person, role: 'reviewer' } });
const isNamed = (person: string, name: string) => happens(person, INSTALLATION_PROJECT, { type: 'person.renamed', body: { name } });

beforeAll(async () => {
  server = await startServer();
  for (const [person, name] of [
    [dora, 'dora'],
    [eve, 'eve'],
  ] as const) {
    const fingerprint = `sha256:${'0'.repeat(64)}`;
    await happens(
      person,
      INSTALLATION_PROJECT,
      { type: 'person.registered', body: { email: `${name}@example.org`, name } },
      { type: 'person.password_changed', body: { fingerprint, reason: 'registered' } },
    );
  }
  await joins(PROJECT, dora);
  await joins(OTHER_PROJECT, eve);
  await isNamed(eve, 'Eve');
  await isNamed(dora, 'Dora');
});
afterAll(() => server.close());

/** What a project is told, newest first; the export says the same. */
async function told(actor = agent, query = 'limit=100'): Promise<AuditEvent[]> {
  const { body } = await server.call<AuditList>('listAuditEvents', { actor, query });
  expect(body.total).toBe(body.items.length);
  if (actor === agent && query === 'limit=100') {
    const exported = await server.raw('/api/v1/audit/export');
    const lines = (exported.body as Buffer).toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toEqual(body.items.toReversed());
  }
  return body.items;
}
const ofPeople = (events: AuditEvent[]) => events.filter((event) => event.resource_type === 'person');
const named = (events: AuditEvent[]) => ofPeople(events).map(({ action, details }) => `${action} ${details.name ?? details.reason}`);

describe('the audit log of a project', () => {
  it('says what happened to the accounts of its people, as rows of no project', async () => {
    const events = await told();
    expect(named(events)).toEqual(['person.renamed Dora', 'person.password_changed registered', 'person.registered dora']);
    expect(new Set(ofPeople(events).map(({ project_id, resource_id }) => `${project_id} ${resource_id}`))).toEqual(
      new Set([`null ${dora}`]),
    );
    expect(await told(agent, `resource_id=${dora}`)).toEqual(ofPeople(events));
    expect(await told(agent, `resource_id=${eve}`)).toEqual([]);
    expect(named(await told(foreignAgent))).toEqual(['person.renamed Eve', 'person.password_changed registered', 'person.registered eve']);
  });

  it('ends with the role of somebody who leaves, and goes on when they come back', async () => {
    await leaves(PROJECT, dora);
    const before = named(await told());
    await joins(OTHER_PROJECT, dora);
    await isNamed(dora, 'Dorothy');
    expect(named(await told())).toEqual(before);
    expect(before).toHaveLength(3);
    expect(named(await told(foreignAgent))[0]).toBe('person.renamed Dorothy');
    await joins(PROJECT, dora);
    expect(named(await told())).toEqual(['person.renamed Dorothy', ...before]);
  });

  it('names a stream that does not verify where it shows it', async () => {
    const first = async (actor = agent) => (await server.call<AuditVerification>('verifyAudit', { actor })).body.first_bad?.stream;
    const tamper = (from: string, to: string) =>
      server.db.ownerPool.query(
        `begin; set local session_replication_role = replica;
         update event_store.events set body = replace(body, '"${from}"', '"${to}"') where stream = '${uuidOf(eve)}'; commit`,
      );
    await tamper('Eve', 'Eva');
    expect([await first(), await first(foreignAgent)]).toEqual([null, eve]);
    await tamper('Eva', 'Eve');
    expect(await first()).toBeUndefined();
  });
});
