/** Who has a review in hand, through HTTP: a claim that holds, release, assignment with and without a hold (HRP §1.2, §2.7). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const claim = (id: string, actor: Actor = server.ann, force?: boolean) =>
  server.call('claimReview', actor, id, force === undefined ? {} : { query: { force } });
const release = (id: string, actor: Actor = server.ann) => server.call('releaseReview', actor, id);
const assign = (id: string, body: object, actor: Actor = server.chief) => server.call('assignReview', actor, id, { body });
const approve = (id: string, actor: Actor) => server.call('actOnReview', actor, id, { body: { action_id: 'approve' } });
const held = async (actor = server.ann) => {
  const id = await server.ask();
  expect((await claim(id, actor)).status).toBe(200);
  return id;
};
const decided = async () => {
  const id = await server.ask();
  await approve(id, server.bob);
  return id;
};

describe('a claim', () => {
  it('holds: nobody else decides, asks for changes, drafts or claims until it is let go', async () => {
    const id = await server.ask();
    const { status, headers, body } = await claim(id);
    expect([status, body.held_by]).toEqual([200, 'reviewer:ann@example.org']);
    const event = (await server.facts(id)).at(-1);
    expect([body.held_at, headers['countersign-seen']]).toEqual([event?.time, `${event?.position}.${event?.bucket}`]);
    const others = [
      await approve(id, server.bob),
      await approve(id, server.chief),
      await server.call('retryReview', server.bob, id, { body: { feedback: 'x' } }),
      await server.call('saveReviewDraft', server.bob, id, { body: { draft_payload: {} } }),
      await server.call('discardReviewDraft', server.bob, id),
      await server.call('decideReview', server.bob, id, { body: { decision: 'approved' } }),
      await claim(id, server.bob),
    ];
    for (const { status: refused, body: said } of others) {
      expect([refused, said.error]).toMatchObject([
        409,
        { code: 'review_already_held', held_by: 'reviewer:ann@example.org', review: { id } },
      ]);
    }
    expect(await server.types(id)).toEqual(['review.requested', 'review.claimed']);
    expect((await release(id)).body).toMatchObject({ held_by: null, held_at: null });
    expect((await approve(id, server.bob)).status).toBe(200);
  });

  it('by its holder is already so, and its holder decides', async () => {
    const id = await held();
    expect((await claim(id)).headers['idempotent-replay']).toBe('true');
    expect((await approve(id, server.ann)).body).toMatchObject({ decision: 'approved', held_by: null });
  });

  it('is taken over by an admin who says so, and by nobody else', async () => {
    const id = await held();
    const reviewer = await claim(id, server.bob, true);
    expect([reviewer.status, reviewer.code]).toEqual([403, 'forbidden']);
    expect((await claim(id, server.chief, false)).code).toBe('review_already_held');
    expect((await claim(id, server.chief, true)).body.held_by).toBe('reviewer:chief@example.org');
    const lost = await release(id);
    expect([lost.status, lost.body.error]).toMatchObject([409, { code: 'review_hold_changed', held_by: 'reviewer:chief@example.org' }]);
    expect((await approve(id, server.ann)).code).toBe('review_already_held');
    expect((await approve(id, server.chief)).status).toBe(200);
  });

  it('goes to one of many who claim at once', async () => {
    const id = await server.ask();
    const people = [server.ann, server.bob, server.chief];
    const answers = await Promise.all(Array.from({ length: 18 }, (_, n) => claim(id, people[n % 3])));
    const fresh = answers.filter(({ status, headers }) => status === 200 && headers['idempotent-replay'] === undefined);
    expect(fresh).toHaveLength(1);
    const holder = fresh[0]?.body.held_by;
    for (const { status, body } of answers) expect(status === 200 ? body.held_by : body.error?.held_by).toBe(holder);
    expect(await server.types(id)).toEqual(['review.requested', 'review.claimed']);
  });
});

describe('a release', () => {
  it('is for the holder and for admins', async () => {
    const id = await held();
    const other = await release(id, server.bob);
    expect([other.status, other.code]).toEqual([403, 'not_holder']);
    expect((await release(id, server.chief)).body.held_by).toBeNull();
    expect((await release(id, server.bob)).headers['idempotent-replay']).toBe('true');
  });
});

describe('an assignment', () => {
  it('finds the person by address or id, and leaves a hold alone', async () => {
    const id = await held(server.bob);
    expect((await assign(id, { assignee: 'ANN@example.org' })).body).toMatchObject({
      assignee: 'ann@example.org',
      held_by: 'reviewer:bob@example.org',
    });
    expect((await assign(id, { assignee: server.ann.person_id })).headers['idempotent-replay']).toBe('true');
    expect((await server.facts(id)).at(-1)?.body).toMatchObject({
      by: { id: server.chief.person_id },
      assignee_id: server.ann.person_id,
      previous_assignee: null,
      hold: null,
    });
    // Whose it is does not say who may decide: a hold does.
    expect((await approve(id, server.bob)).status).toBe(200);
  });

  it('with a hold keeps everybody else from it, whoever had it before', async () => {
    const id = await held(server.bob);
    const { body } = await assign(id, { assignee: 'ann@example.org', hold: true });
    expect(body).toMatchObject({ assignee: 'ann@example.org', held_by: 'reviewer:ann@example.org' });
    expect((await approve(id, server.bob)).code).toBe('review_already_held');
    expect((await release(id, server.bob)).code).toBe('review_hold_changed');
    expect((await approve(id, server.ann)).status).toBe(200);
  });

  it('to a role holds it for all who have the role', async () => {
    const id = await server.ask();
    expect((await assign(id, { assignee: 'role:admin', hold: true })).body).toMatchObject({
      assignee: 'role:admin',
      held_by: 'role:admin',
    });
    expect((await approve(id, server.ann)).code).toBe('review_already_held');
    expect((await approve(id, server.chief)).status).toBe(200);
    const reviewers = await server.ask();
    await assign(reviewers, { assignee: 'role:reviewer', hold: true });
    expect((await claim(reviewers, server.bob)).body.held_by).toBe('reviewer:bob@example.org');
  });

  it('needs somebody of the project', async () => {
    const id = await server.ask();
    for (const assignee of ['nobody@example.org', 'stranger@example.org', server.stranger.person_id, 'role:owner', newId('per')]) {
      const { status, body } = await assign(id, { assignee });
      expect([status, body.error]).toMatchObject([400, { code: 'invalid_assignee', param: 'assignee' }]);
    }
    for (const body of [{}, { assignee: '' }, { assignee: 'x', hold: 'yes' }])
      expect((await assign(id, body)).code).toBe('validation_failed');
  });

  it('is 503 without the directory, and deciding goes on', async () => {
    const { directory } = server.apps;
    server.apps.directory = undefined;
    const id = await server.ask();
    const down = await assign(id, { assignee: 'ann@example.org' });
    expect([down.status, down.code]).toEqual([503, 'service_unavailable']);
    expect((await assign(id, { assignee: 'role:admin' })).status).toBe(200);
    expect((await approve(id, server.ann)).status).toBe(200);
    server.apps.directory = directory;
  });
});

describe('all of them', () => {
  const ways = async (id: string, actor: Actor) => [
    await claim(id, actor),
    await claim(id, actor, true),
    await release(id, actor),
    await assign(id, { assignee: 'role:admin' }, actor),
  ];
  const codes = async (id: string, actor: Actor) => (await ways(id, actor)).map(({ status, code }) => `${status} ${code}`);

  it('are for people of the project, each as their role allows', async () => {
    const id = await held(server.bob);
    const never = Array.from({ length: 4 }, () => '403 human_actor_required');
    expect(await codes(id, server.agent)).toEqual(never);
    expect(await codes(newId('rev'), server.agent)).toEqual(never);
    const missing = Array.from({ length: 4 }, () => '404 review_not_found');
    expect(await codes(id, server.stranger)).toEqual(missing);
    expect(await codes(newId('rev'), server.chief)).toEqual(missing);
    expect(await codes(id, server.ann)).toEqual(['409 review_already_held', '403 forbidden', '403 not_holder', '403 forbidden']);
    expect(await server.types(id)).toEqual(['review.requested', 'review.claimed']);
  });

  it('come too late once it is settled', async () => {
    const settled = await codes(await decided(), server.chief);
    expect(settled).toEqual(Array.from({ length: 4 }, () => '409 review_already_decided'));
  });
});
