/** Decisions at the edge of time (D3, decisions 25, 26; K8): the database judges, to the millisecond, whether or not anybody sweeps. */
import type { Actor } from '@countersign/contracts';
import { resubmit } from '@countersign/review';
import { type Asked, PAYLOAD, within } from '@countersign/review/fixture';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterEach(() => server.db.stopClock(null));
afterAll(() => server.close());

type TimeoutAction = 'auto_approve' | 'auto_reject' | 'expire';
const press = (id: string, action_id: string, more: object = {}, actor: Actor = server.ann) =>
  server.call('actOnReview', actor, id, { body: { action_id, ...more } });
const timers = async (id: string) => {
  const position = (await server.facts(id))[0]?.position;
  const { rows } = await server.db.pool.query<{ kind: string }>(
    'select t.kind from event_store.timers t join event_store.events e using (stream) where e.position = $1 order by 1',
    [position],
  );
  return rows.map(({ kind }) => kind);
};
/** Time stands still so many milliseconds after a review’s deadline. */
async function stand(id: string, ms: number, kind: 'expires_at' | 'changes' = 'expires_at'): Promise<string> {
  const facts = await server.facts(id);
  const asked = facts.findLast(({ type }) => type === 'review.changes_requested')?.time ?? '';
  const deadline = kind === 'changes' ? Date.parse(asked) + 3_600_000 : Date.parse((await server.shown(id)).expires_at ?? '');
  const iso = new Date(deadline).toISOString();
  await server.db.stopClock(new Date(deadline + ms).toISOString());
  return iso;
}

describe('a decision', () => {
  it.each<TimeoutAction>(['auto_approve', 'auto_reject', 'expire'])('in the last millisecond before %s is taken', async (action) => {
    const id = await server.ask(within(action, 60));
    expect(await timers(id)).toEqual(['reminder', 'timeout']);
    await stand(id, -1);
    expect((await press(id, 'approve')).body).toMatchObject({ decision: 'approved', decided_by: 'ann@example.org' });
    expect(await server.types(id)).toEqual(['review.requested', 'review.decided']);
    expect(await timers(id)).toEqual([]);
  });

  it.each<[TimeoutAction, string, object]>([
    ['auto_approve', 'review_already_decided', { status: 'decided', decision: 'approved', decided_by: 'system:timeout' }],
    ['auto_reject', 'review_already_decided', { status: 'decided', decision: 'rejected', decided_by: 'system:timeout' }],
    ['expire', 'review_expired', { status: 'expired', decision: null, decided_by: null, decided_at: null }],
  ])('at the very instant of %s is refused, and told what the clock has settled', async (action, code, settled) => {
    const id = await server.ask(within(action, 60));
    const deadline = await stand(id, 0);
    const { status, headers, body } = await press(id, 'approve');
    expect([status, body.error]).toMatchObject([409, { code, review: { id, current_version: 1, ...settled } }]);
    if (action !== 'expire') expect(body.error?.review?.decided_at).toBe(deadline);
    const facts = await server.facts(id);
    const lapse = action === 'expire' ? 'review.expired' : 'review.decided';
    expect(facts.map(({ type }) => type)).toEqual(['review.requested', lapse, 'review.late_attempt_refused']);
    // The refusal wrote something: whoever was refused finds it in their next list.
    expect(headers['countersign-seen']).toBe(`${facts[2]?.position}.${facts[2]?.bucket}`);
    expect(facts[2]?.body).toEqual({
      by: { kind: 'person', id: server.ann.person_id, email: 'ann@example.org' },
      attempt: 'act',
      action_id: 'approve',
      late_seconds: 0,
    });
    expect(await timers(id)).toEqual([]);
    expect((await server.shown(id)).updated_at).toBe(deadline);
  });

  it('that is late is recorded once for each person and action', async () => {
    const id = await server.ask(within('expire', 60));
    await stand(id, 7_500);
    for (let n = 0; n < 2; n++) {
      await press(id, 'approve');
      await press(id, 'approve', {}, server.bob);
      await press(id, 'reject', { feedback: `No. ${n}` });
      await server.call('decideReview', server.ann, id, { body: { decision: 'approved' } });
    }
    const late = (await server.facts(id))
      .slice(2)
      .map(({ body }) => body as { by: { email: string }; action_id: string; late_seconds: number });
    expect(late.map(({ by, action_id, late_seconds }) => [by.email, action_id, late_seconds])).toEqual([
      ['ann@example.org', 'approve', 7],
      ['bob@example.org', 'approve', 7],
      ['ann@example.org', 'reject', 7],
    ]);
  });

  it('of a stranger or of a key records nothing, whenever it comes', async () => {
    const id = await server.ask(within('expire', 60));
    await stand(id, 0);
    expect((await press(id, 'approve', {}, server.stranger)).code).toBe('review_not_found');
    expect((await press(id, 'approve', {}, server.agent)).code).toBe('human_actor_required');
    expect(await server.types(id)).toEqual(['review.requested']);
  });

  it('that was in time when it was judged and is not when it is written is judged again', async () => {
    const id = await server.ask(within('auto_reject', 60));
    const append = server.store.append.bind(server.store);
    let appends = 0;
    const slow: typeof server.store.append = async (request) => {
      // The minute passes between the reading and the writing.
      if (++appends === 1) await server.db.advanceClock(60);
      return append(request);
    };
    Object.assign(server.store, { append: slow });
    const { status, body } = await press(id, 'approve');
    Object.assign(server.store, { append });
    expect([status, body.error]).toMatchObject([409, { code: 'review_already_decided', review: { decision: 'rejected' } }]);
    expect(await server.types(id)).toEqual(['review.requested', 'review.decided', 'review.late_attempt_refused']);
  });
});

describe('what else people do', () => {
  it('comes too late at that instant as well, and records what the clock did', async () => {
    const ways = [
      (id: string) => server.call('claimReview', server.ann, id),
      (id: string) => server.call('releaseReview', server.ann, id),
      (id: string) => server.call('assignReview', server.chief, id, { body: { assignee: 'role:admin' } }),
      (id: string) => press(id, 'request_changes', { feedback: 'x' }),
    ];
    for (const way of ways) {
      const id = await server.ask(within('expire', 60));
      await stand(id, 0);
      const { status, body } = await way(id);
      expect([status, body.error]).toMatchObject([409, { code: 'review_expired', review: { status: 'expired' } }]);
      expect((await server.types(id))[1]).toBe('review.expired');
      expect(await timers(id)).toEqual([]);
      await server.db.stopClock(null);
    }
  });

  it('is archiving what has expired though nobody wrote it down', async () => {
    const id = await server.ask(within('expire', 60));
    await stand(id, -1);
    expect((await server.call('archiveReview', server.ann, id)).code).toBe('review_not_settled');
    await stand(id, 0);
    expect((await server.call('archiveReview', server.ann, id)).body.status).toBe('archived');
    expect(await server.types(id)).toEqual(['review.requested', 'review.expired', 'review.archived']);
  });
});

describe('a wait for changes', () => {
  const waiting = async (how: Asked = {}) => {
    const id = await server.ask({ ...how, config: { ...how.config, changes_timeout_hours: 1 } });
    await press(id, 'request_changes', { feedback: 'Shorter.' });
    return id;
  };

  it('ends at its instant: before it only the wait can be ended, from it on the review can be decided', async () => {
    const id = await waiting();
    expect(await timers(id)).toEqual(['changes_timeout']);
    await stand(id, -1, 'changes');
    expect((await press(id, 'approve')).code).toBe('review_awaiting_changes');
    await stand(id, 0, 'changes');
    expect((await press(id, 'cancel_iteration')).code).toBe('action.status_not_allowed');
    expect((await press(id, 'approve')).body).toMatchObject({ status: 'decided', decision: 'approved', feedback: null });
    expect((await server.types(id)).slice(2)).toEqual(['review.changes_timed_out', 'review.decided']);
    expect(await timers(id)).toEqual([]);
  });

  it('takes its row away when the agent answers, and a new one comes with the next', async () => {
    const id = await waiting();
    const { agent } = server;
    await server.happen(id, agent, (state, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, state, now));
    expect(await timers(id)).toEqual([]);
    await press(id, 'request_changes', { feedback: 'Shorter still.' });
    expect(await timers(id)).toEqual(['changes_timeout']);
  });

  it('that outlasts the window ends in no approval by the clock', async () => {
    const id = await waiting(within('auto_approve', 60));
    await stand(id, 0);
    const { body } = await press(id, 'cancel_iteration');
    expect(body.error).toMatchObject({ code: 'review_expired', review: { status: 'expired', decision: null } });
  });
});
