/** The races of commands.int.spec.ts that are run from the outside: requests on two connections to a running server, both under way at once. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Answer, type Caller, DRAFT, type ErrorAnswer, Server } from '../../e2e/server.js';

jest.setTimeout(600_000);

const ABREAST = 6;
const SETTLED = ['review_already_decided', 'review_expired'];

let server: Server;
let second: Caller;
beforeAll(async () => {
  server = await Server.start();
  const { items } = await server.admin.do('listMembers');
  const other = items.find(({ email }) => email === 'second@demo.example');
  await server.admin.do('updateMember', { path: { id: other?.id ?? '' }, body: { role: 'admin' } });
  second = server.reviewer;
});
afterAll(() => server?.stop());

/** @param run one race; says which of its two sides won. */
async function races(count: number, abreast: number, run: (n: number) => Promise<0 | 1>): Promise<void> {
  const won: [number, number] = [0, 0];
  let next = 0;
  const lane = async () => {
    while (next < count) won[await run(next++)] += 1;
  };
  await Promise.all(Array.from({ length: abreast }, lane));
  expect(won[0] + won[1]).toBe(count);
  // One that always wins had no rival.
  expect(Math.min(...won)).toBeGreaterThan(0);
}

/** The sides in an order that changes; which of them comes first is left to the server. */
async function atOnce<T>(n: number, one: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> {
  if (n % 2 === 0) return Promise.all([one(), other()]);
  const [there, here] = await Promise.all([other(), one()]);
  return [here, there];
}

const bodyOf = (answer: Answer<ErrorAnswer>) => answer.body as ErrorAnswer;
const summary = (review: object) =>
  Object.fromEntries(
    Object.entries(review).filter(([name]) => ['id', 'status', 'decision', 'decided_by', 'decided_at', 'current_version'].includes(name)),
  );

describe('two requests at once', () => {
  it('two people decide one review: one of them does, the other is told who did what', async () => {
    await races(500, ABREAST, async (n) => {
      const { id } = await server.ask();
      const [ann, bob] = await atOnce(
        n,
        () => server.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } }),
        () => second.try('actOnReview', { path: { id }, body: { action_id: 'reject', feedback: 'No.' } }),
      );
      expect([ann.status, bob.status].sort()).toEqual([200, 409]);
      const [winner, loser] = ann.status === 200 ? [ann, bob] : [bob, ann];
      expect(bodyOf(loser).error.code).toBe('review_already_decided');
      expect(bodyOf(loser).error.review).toEqual(summary(winner.body));
      expect(summary(await server.agent.review(id))).toEqual(summary(winner.body));
      return ann.status === 200 ? 0 : 1;
    });
  });

  it('an agent answers what it also takes back: withdrawn once, and an answer that came too late is told so', async () => {
    await races(500, ABREAST, async (n) => {
      const { id } = await server.ask();
      await server.admin.act(id, 'request_changes', { feedback: 'Shorter.' });
      const [answer, withdrawal] = await atOnce<Answer<ErrorAnswer>>(
        n,
        () => server.agent.try('resubmitReview', { path: { id }, body: { payload: { ...DRAFT, body: 'Short.' }, version: 2 } }),
        () => server.agent.try('withdrawReview', { path: { id }, body: {} }),
      );
      expect(withdrawal.status).toBe(200);
      const end = await server.agent.review(id);
      expect([end.status, end.withdrawn, end.current_version]).toEqual(['expired', true, answer.status === 200 ? 2 : 1]);
      if (answer.status === 200) return 0;
      expect([answer.status, SETTLED.includes(bodyOf(answer).error.code)]).toEqual([409, true]);
      expect(bodyOf(answer).error.review).toEqual(summary(end));
      return 1;
    });
  });

  it('two admins demote each other: one is left, and the other is told they are none', async () => {
    const { items } = await server.admin.do('listMembers');
    const idOf = (email: string) => items.find((member) => member.email === email)?.id ?? '';
    const ids = [idOf(server.topology.credentials.reviewer.email), idOf('second@demo.example')] as const;
    const people = [server.admin, second] as const;
    // One project, so one race after the other; each makes its stream longer, which is read for every command.
    await races(200, 1, async (n) => {
      const demote = (who: 0 | 1) => people[who].try('updateMember', { path: { id: ids[1 - who] as string }, body: { role: 'reviewer' } });
      const answers = await atOnce<Answer<ErrorAnswer>>(
        n,
        () => demote(0),
        () => demote(1),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      const won = answers[0].status === 200 ? 0 : 1;
      expect(['forbidden', 'insufficient_scope']).toContain(bodyOf(answers[1 - won] as Answer<ErrorAnswer>).error.code);
      const team = await people[won].do('listMembers');
      expect(team.items.filter(({ role }) => role === 'admin').map(({ id }) => id)).toEqual([ids[won]]);
      await people[won].do('updateMember', { path: { id: ids[1 - won] as string }, body: { role: 'admin' } });
      return won;
    });
  });

  it('two people publish one slug: one has it, the other is told that it is taken', async () => {
    await races(1_000, ABREAST, async (n) => {
      const slug = `raced-${n}`;
      const publish = (who: Caller, name: string) =>
        who.try('createTemplate', {
          body: { slug, name, fields: [{ name: 'subject', type: 'text', label: 'Subject' }], actions: ['approve', 'reject'] },
        });
      const [ann, bob] = await atOnce(
        n,
        () => publish(server.admin, 'Of the first'),
        () => publish(second, 'Of the second'),
      );
      expect([ann.status, bob.status].sort()).toEqual([201, 400]);
      const [winner, loser] = ann.status === 201 ? [ann, bob] : [bob, ann];
      expect(bodyOf(loser).error).toMatchObject({ code: 'slug_already_exists', param: 'slug' });
      const found = await server.agent.do('getTemplate', { path: { id: winner.body.id } });
      expect([found.slug, found.name]).toEqual([slug, winner.body.name]);
      return ann.status === 201 ? 0 : 1;
    });
    const published = await server.topology.query<{ slug: string; times: number }>(
      `select body::json ->> 'slug' as slug, count(*)::int as times from event_store.events
        where type = 'template.published' and body::json ->> 'slug' like 'raced-%' group by 1`,
    );
    expect(published).toHaveLength(1_000);
    expect(published.filter(({ times }) => times !== 1)).toEqual([]);
  });
});
