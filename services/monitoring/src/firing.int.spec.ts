/** What the clock does to reviews while three processes watch it (M1–M4, hrp §6.1; decisions 19, 25; K7, K8). */

import { newId, uuidOf } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { claim, resubmit, withdraw } from '@countersign/review';
import { type Asked, agent, ann, doing, PAYLOAD, within } from '@countersign/review/fixture';
import { until } from '@countersign/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { fireTimer } from './fire-timer.js';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
  for (let n = 0; n < 3; n++) await server.start();
});
afterEach(() => server.db.stopClock(null));
afterAll(() => server.close());

const MINUTE = 60;
const many = (count: number, how: Asked) => Promise.all(Array.from({ length: count }, () => server.ask(how)));
/** Resolves when no row of a review is left; rows go with the append that settles, or right after the one that does not. */
const spent = (id: string) =>
  until(
    () => server.rows(id),
    (rows) => rows.length === 0,
  );
/** Time stands still so many milliseconds after a review’s deadline. */
async function stand(id: string, ms: number): Promise<string> {
  const deadline = Date.parse((await server.shown(id)).expires_at ?? '');
  await server.db.stopClock(new Date(deadline + ms).toISOString());
  return new Date(deadline).toISOString();
}
const waiting = async (how: Asked = {}) => {
  const id = await server.ask({ ...how, config: { ...how.config, changes_timeout_hours: 1 } });
  await server.happen(id, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
  return id;
};

describe('each kind of timer fires once for each review', () => {
  it.each<['auto_approve' | 'auto_reject' | 'expire', object]>([
    ['auto_approve', { status: 'decided', decision: 'approved', approved_value: PAYLOAD, approved_digest: digest(PAYLOAD) }],
    ['auto_reject', { status: 'decided', decision: 'rejected', approved_value: null, approved_digest: null }],
    ['expire', { status: 'expired', decision: null, decided_by: null }],
  ])('%s', async (action, outcome) => {
    const ids = await many(20, within(action, MINUTE));
    await server.db.advanceClock(MINUTE);
    await Promise.all(ids.map(spent));
    const settles = action === 'expire' ? 'review.expired' : 'review.decided';
    for (const id of ids) {
      const facts = await server.facts(id);
      expect(facts.map(({ type }) => type)).toEqual(['review.requested', settles]);
      expect(facts[1]?.meta).toMatchObject({ actor: { kind: 'system', id: 'clock' }, labels: { template_slug: 'mail' } });
      expect(await server.shown(id)).toMatchObject({ ...outcome, available_actions: [] });
    }
  });

  it('auto_approve is nobody’s decision but the clock’s, dated at the deadline', async () => {
    const id = await server.ask(within('auto_approve', MINUTE));
    await server.happen(id, ann, (state, now) => claim({ actor: ann }, state, now));
    const { expires_at } = await server.shown(id);
    await server.db.advanceClock(10 * MINUTE);
    await spent(id);
    expect(await server.shown(id)).toMatchObject({
      decided_by: 'system:timeout',
      decided_by_verified: null,
      decided_by_auth: null,
      decided_at: expires_at,
      shown: null,
      auto_approved: false,
      action_value: null,
      last_action_by: null,
      held_by: null,
    });
    expect((await server.facts(id)).at(-1)?.body).toMatchObject({
      decided_by: { kind: 'system', id: 'system:timeout' },
      acted_by: null,
      proof: null,
      trigger: 'timeout',
      after_seconds: MINUTE,
      held_by: { person_id: ann.person_id },
    });
  });

  it('the reminder at three quarters of the window, and it leaves the timeout to come', async () => {
    const ids = await many(20, within('expire', 3600));
    await server.db.advanceClock(2700);
    await Promise.all(
      ids.map((id) =>
        until(
          () => server.rows(id),
          (rows) => rows.length === 1,
        ),
      ),
    );
    for (const id of ids) {
      const facts = await server.facts(id);
      expect(facts.map(({ type }) => type)).toEqual(['review.requested', 'review.reminded']);
      const { after_seconds, remaining_seconds } = facts[1]?.type === 'review.reminded' ? facts[1].body : {};
      expect(after_seconds).toBe(2700);
      expect(remaining_seconds).toBeGreaterThan(840);
      expect(remaining_seconds).toBeLessThanOrEqual(900);
      expect(await server.shown(id)).toMatchObject({ status: 'pending', reminder_sent_at: facts[1]?.time });
      expect((await server.rows(id)).map(({ kind }) => kind)).toEqual(['timeout']);
    }
    await server.db.advanceClock(900);
    await Promise.all(ids.map(spent));
    for (const id of ids) expect(await server.types(id)).toEqual(['review.requested', 'review.reminded', 'review.expired']);
  });

  it('the end of a wait for changes, back to a person', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => waiting()));
    const asked = await server.facts(ids[0] ?? '');
    await server.db.advanceClock(3600);
    await Promise.all(ids.map(spent));
    for (const id of ids) {
      expect((await server.types(id)).slice(2)).toEqual(['review.changes_timed_out']);
      expect(await server.shown(id)).toMatchObject({ status: 'pending', feedback: null, current_version: 1 });
    }
    // Dated when it fell due, not when it was written.
    const due = new Date(Date.parse(asked.at(-1)?.time ?? '') + 3_600_000).toISOString();
    expect((await server.shown(ids[0] ?? '')).updated_at).toBe(due);
  });
});

describe('never early', () => {
  it('not a millisecond before the database’s time, and at that instant', async () => {
    const [sooner, later] = [await server.ask(within('expire', MINUTE)), await server.ask(within('expire', MINUTE + 1))];
    await stand(later, -1);
    // The services look, and find the one that is due.
    await spent(sooner);
    expect((await server.types(later)).includes('review.expired')).toBe(false);
    const deadline = await stand(later, 0);
    await spent(later);
    expect((await server.facts(later)).at(-1)).toMatchObject({ type: 'review.expired', time: deadline });
  });

  it('not even for a row that says otherwise: the review’s rules are asked', async () => {
    const [id, plain] = [await server.ask(within('expire', 3600)), await server.ask()];
    const timer = (stream: string, kind: string) => ({ stream, kind, generation: 1 });
    expect(await fireTimer(server.others, timer(id, 'timeout'))).toBe('not_due');
    expect(await fireTimer(server.others, timer(id, 'reminder'))).toBe('not_due');
    for (const kind of ['timeout', 'reminder', 'changes_timeout']) expect(await fireTimer(server.others, timer(plain, kind))).toBe('gone');
    expect(await fireTimer(server.others, timer(newId('rev'), 'timeout'))).toBe('gone');
    expect(await server.types(id)).toEqual(['review.requested']);
  });
});

describe('a timer without a purpose', () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['a decision', (id) => server.happen(id, ann, doing(ann, 'approve'))],
    ['a rejection', (id) => server.happen(id, ann, doing(ann, 'reject', { feedback: 'No.' }))],
    ['a withdrawal', (id) => server.happen(id, agent, (state, now) => withdraw({ actor: agent }, state, now))],
  ])('goes with %s, and never fires', async (_what, settle) => {
    const [settled, open] = [await server.ask(within('auto_approve', MINUTE)), await server.ask(within('expire', MINUTE))];
    await settle(settled);
    expect(await server.rows(settled)).toEqual([]);
    const before = await server.facts(settled);
    await server.db.advanceClock(MINUTE);
    await spent(open);
    expect(await server.facts(settled)).toEqual(before);
  });

  it('goes with the agent’s answer; the next wait has one of its own', async () => {
    const id = await waiting();
    await server.happen(id, agent, (state, now) => resubmit({ actor: agent, payload: PAYLOAD, version: 2 }, state, now));
    expect(await server.rows(id)).toEqual([]);
    await server.happen(id, ann, doing(ann, 'request_changes', { feedback: 'Shorter still.' }));
    await server.db.advanceClock(3600);
    await spent(id);
    expect((await server.types(id)).filter((type) => type === 'review.changes_timed_out')).toHaveLength(1);
  });

  it('is taken away when it is there all the same', async () => {
    const id = await server.ask();
    await server.db.ownerPool.query(
      `insert into event_store.timers (stream, category, kind, project, due_at, generation)
       select stream, category, 'timeout', project, event_store.now(), last_position from event_store.streams where stream = $1`,
      [uuidOf(id)],
    );
    await spent(id);
    expect(await server.types(id)).toEqual(['review.requested']);
  });
});

describe('where two ends have passed', () => {
  it('a wait that ended first reopened the review first, and each is dated at its own end', async () => {
    await server.stop();
    const id = await waiting(within('auto_approve', 2 * 3600));
    const { expires_at } = await server.shown(id);
    await server.db.advanceClock(2 * 3600);
    for (let n = 0; n < 3; n++) await server.start();
    await spent(id);
    expect((await server.types(id)).slice(2)).toEqual(['review.changes_timed_out', 'review.decided']);
    expect(await server.shown(id)).toMatchObject({ decision: 'approved', decided_by: 'system:timeout', decided_at: expires_at });
  });

  it('a reminder that comes after the deadline is none', async () => {
    await server.stop();
    const ids = await many(10, within('auto_reject', MINUTE));
    await server.db.advanceClock(MINUTE);
    for (let n = 0; n < 3; n++) await server.start();
    await Promise.all(ids.map(spent));
    for (const id of ids) expect(await server.types(id)).toEqual(['review.requested', 'review.decided']);
  });
});
