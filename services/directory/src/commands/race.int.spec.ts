/** People who do something at the same moment. Each race is run many times, with the appends really interleaving on the database. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directoryStore, OPERATOR } from '../provisioning.js';
import { createSignInLink, exchangeSignInLink } from '../sign-in/sign-in.js';
import { must, PASSWORD, type Server, startServer } from '../testing/server.js';
import { createPerson } from './people.js';
import { createProject, readProject, rotateWebhookSecret } from './projects.js';
import { acceptInvitation, changeMember, endMember, inviteMember } from './team.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const client = { ip: '203.0.113.1', userAgent: null, deviceToken: null, keepsCookies: false };
const ROUNDS = 8;

/** Two processes: each with an event store of its own, so that group commit does not put them in one line. */
async function together<T>(...commands: ((deps: Server['deps']) => Promise<T>)[]): Promise<T[]> {
  const stores = commands.map(() => directoryStore({ pool: server.db.pool }));
  try {
    return await Promise.all(commands.map((command, index) => command({ ...server.deps, store: stores[index] ?? server.deps.store })));
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

async function admins(project: string): Promise<string[]> {
  const found = await readProject(server.deps, project);
  return Object.entries(found?.project.members ?? {}).flatMap(([id, member]) => (member.role === 'admin' ? [id] : []));
}

async function twoAdmins(round: number): Promise<{ project: string; ann: string; bob: string }> {
  const project = await server.project('Race');
  const ann = await server.person(project, `ann-${project.slice(-8)}-${round}@example.com`, 'admin');
  const bob = await server.person(project, `bob-${project.slice(-8)}-${round}@example.com`, 'admin');
  return { project, ann, bob };
}

describe('two admins at once', () => {
  it('who demote each other: exactly one wins, and the project keeps an admin', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { project, ann, bob } = await twoAdmins(round);
      const outcomes = await together(
        (deps) => changeMember(deps, { project, person: bob, by: ann }, { role: 'reviewer' }, OPERATOR),
        (deps) => changeMember(deps, { project, person: ann, by: bob }, { role: 'reviewer' }, OPERATOR),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      expect(outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal.code]))).toEqual(['forbidden']);
      expect(await admins(project)).toHaveLength(1);
    }
  });

  it('who take each other out: exactly one wins', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { project, ann, bob } = await twoAdmins(round);
      const outcomes = await together(
        (deps) => endMember(deps, { project, person: bob, by: ann }, OPERATOR),
        (deps) => endMember(deps, { project, person: ann, by: bob }, OPERATOR),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      expect(await admins(project)).toHaveLength(1);
    }
  });

  it('while an operator demotes both: the last one stays', async () => {
    const { project, ann, bob } = await twoAdmins(0);
    const outcomes = await together(
      (deps) => changeMember(deps, { project, person: bob, by: null }, { role: 'reviewer' }, OPERATOR),
      (deps) => changeMember(deps, { project, person: ann, by: null }, { role: 'reviewer' }, OPERATOR),
    );
    expect(outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal.code]))).toEqual(['last_admin']);
    expect(await admins(project)).toHaveLength(1);
  });
});

describe('one thing for one only', () => {
  it('an e-mail address, whatever its case, in whichever project', async () => {
    const projects = [await server.project('One'), await server.project('Two')];
    for (let round = 0; round < ROUNDS; round++) {
      const outcomes = await together(
        ...projects.map((project, index) => (deps: Server['deps']) => {
          const email = index === 0 ? `same-${round}@example.com` : `Same-${round}@Example.com`;
          return createPerson(deps, { email, name: 'Same', password: PASSWORD, project, role: 'reviewer' }, OPERATOR);
        }),
      );
      expect(outcomes.map((outcome) => (outcome.ok ? 'made' : outcome.refusal.code)).sort()).toEqual(['email_taken', 'made']);
    }
  });

  it('a slug', async () => {
    const outcomes = await together(
      ...[1, 2, 3].map((n) => (deps: Server['deps']) => createProject(deps, { name: `P${n}`, slug: 'taken' }, OPERATOR)),
    );
    expect(outcomes.map((outcome) => (outcome.ok ? 'made' : outcome.refusal.code)).sort()).toEqual([
      'made',
      'slug_already_exists',
      'slug_already_exists',
    ]);
  });

  it('an invitation', async () => {
    const project = await server.project('Inviting');
    for (let round = 0; round < ROUNDS; round++) {
      const { token } = must(
        await inviteMember(server.deps, { project, by: null, email: `guest-${round}@example.com`, role: 'reviewer' }, OPERATOR),
      );
      const outcomes = await together(
        ...['Gus', 'Gil'].map(
          (name) => (deps: Server['deps']) => acceptInvitation(deps, { token, name, password: PASSWORD, client }, () => OPERATOR),
        ),
      );
      // The loser registers nobody; with the same password it may also find itself accepted and be let in.
      const persons = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value.person.id] : []));
      expect(new Set(persons).size).toBe(1);
      const found = await readProject(server.deps, project);
      expect(Object.keys(found?.project.members ?? {})).toHaveLength(round + 1);
    }
  });

  it('a sign-in link', async () => {
    const project = await server.project('Linking');
    const person = await server.person(project, 'linked@example.com', 'admin');
    for (let round = 0; round < ROUNDS; round++) {
      const link = await createSignInLink(server.deps, { person, purpose: 'sign_in' });
      const outcomes = await together(
        ...[1, 2, 3, 4].map(() => (deps: Server['deps']) => exchangeSignInLink(deps, { token: link?.token ?? '', client })),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    }
  });

  it('a rotation of the webhook secret', async () => {
    const project = await server.project('Rotating');
    const outcomes = await together(...[1, 2].map(() => (deps: Server['deps']) => rotateWebhookSecret(deps, project, null, OPERATOR)));
    expect(outcomes.map((outcome) => (outcome.ok ? 'rotated' : outcome.refusal.code)).sort()).toEqual(['rotated', 'rotation_pending']);
  });
});
