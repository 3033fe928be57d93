/** Whoever leaves a project leaves nothing in their hands (HRP §1.6; departures.ts L1–L3). */

import type { PersonActor } from '@countersign/contracts';
import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { inTransaction } from '@countersign/database';
import { grantRole, OPERATOR } from '@countersign/directory';
import { rebuildProjection } from '@countersign/event-bus';
import { newId, PostgresEventStore, type StoredEvent } from '@countersign/event-store';
import { assign, claim, withdraw } from '@countersign/review';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { followHands } from './departures.js';
import { must, type Server, startServer } from './fixture/server.js';
import { DECISIONS_PROJECTION } from './index.js';

let server: Server;
/** Somebody new for every test. */
let eve: PersonActor;
let people = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  eve = await server.person(server.project, `eve${++people}`, 'reviewer');
});

const leave = async (who = eve) => {
  const { status } = await server.call('removeMember', server.chief, who.person_id);
  expect(status).toBe(204);
};
const comeBack = async (who = eve) => {
  must(await grantRole(server.directory, { project: server.project, person: who.person_id, role: 'reviewer' }, OPERATOR));
};
const given = async (hold = false) => {
  const id = await server.ask();
  expect((await server.call('assignReview', server.chief, id, { body: { assignee: eve.email, hold } })).status).toBe(200);
  return id;
};
const claimed = async (who = eve) => {
  const id = await server.ask();
  expect((await server.call('claimReview', who, id)).status).toBe(200);
  return id;
};
const approve = (id: string, who = server.bob) => server.call('actOnReview', who, id, { body: { action_id: 'approve' } });
const freed = async (id: string) => (await server.types(id)).filter((type) => type === 'review.unassigned').length;
const membershipEvents = async (who = eve) =>
  (await server.store.readStream(server.project)).events.filter(
    (event) => (event.body as { person_id?: string } | null)?.person_id === who.person_id,
  );
/** Resolves once a connection waits for another one's lock. */
async function waiting(client: PoolClient): Promise<void> {
  const { processID } = client as unknown as { processID: number };
  for (;;) {
    const { rowCount } = await server.db.ownerPool.query("select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'", [
      processID,
    ]);
    if (rowCount === 1) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
/** The batch as the bus would hand it over. */
const batch = (events: StoredEvent[], tx: PoolClient, replay = false) =>
  followHands(server.store, events, { tx, group: 'decisions', replay });

describe('somebody who leaves', () => {
  it('leaves what was asked of them, what they were given and what they hold to anybody', async () => {
    const asked = await server.ask({ assignee: eve });
    const [assigned, held, both] = [await given(), await claimed(), await given(true)];
    expect((await approve(held)).code).toBe('review_already_held');
    await leave();
    await server.caughtUp();
    for (const id of [asked, assigned, held, both]) {
      expect(await server.shown(id)).toMatchObject({ status: 'pending', assignee: null, held_by: null, held_at: null });
      expect(await freed(id)).toBe(1);
      expect((await approve(id)).status).toBe(200);
    }
    const event = (await server.facts(both)).find(({ type }) => type === 'review.unassigned');
    const ended = (await membershipEvents()).at(-1);
    expect(event).toMatchObject({
      body: {
        person_id: eve.person_id,
        reason: 'membership_ended',
        previous_assignee: eve.email,
        holder: { ref: `reviewer:${eve.email}`, person_id: eve.person_id },
      },
      meta: { actor: { kind: 'system', id: 'departures' }, causation_id: ended?.id, labels: { template_slug: 'mail' } },
    });
  });

  it('by being deactivated leaves it too', async () => {
    const id = await given(true);
    await server.call('updateMember', server.chief, eve.person_id, { body: { is_active: false } });
    await server.caughtUp();
    expect(await server.shown(id)).toMatchObject({ assignee: null, held_by: null });
  });

  it('leaves alone what is settled, somebody else’s, a role’s, or another project’s', async () => {
    const decided = await given();
    await approve(decided, eve);
    const withdrawn = await given();
    await server.happen(withdrawn, server.agent, (state, now) => withdraw({ actor: server.agent }, state, now));
    const others = await claimed(server.ann);
    const passedOn = await given(true);
    await server.call('assignReview', server.chief, passedOn, { body: { assignee: server.ann.email, hold: true } });
    const role = await server.ask();
    await server.call('assignReview', server.chief, role, { body: { assignee: 'role:reviewer', hold: true } });
    must(await grantRole(server.directory, { project: server.elsewhere, person: eve.person_id, role: 'admin' }, OPERATOR));
    const foreign = await server.ask({ assignee: eve }, server.elsewhere);
    await leave();
    await server.caughtUp();
    for (const id of [decided, withdrawn, others, passedOn, role, foreign]) expect(await freed(id)).toBe(0);
    expect(await server.shown(foreign)).toMatchObject({ assignee: eve.email });
    expect(await server.shown(role)).toMatchObject({ assignee: 'role:reviewer', held_by: 'role:reviewer' });
  });

  it('leaves all of it, however much it is', async () => {
    const ids = await Promise.all(Array.from({ length: 70 }, () => server.ask({ assignee: eve })));
    await leave();
    await server.caughtUp();
    expect(await Promise.all(ids.map(freed))).toEqual(ids.map(() => 1));
  });

  it('is given nothing any more', async () => {
    await leave();
    const { status, body } = await server.call('assignReview', server.chief, await server.ask(), { body: { assignee: eve.email } });
    expect([status, body.error]).toMatchObject([400, { code: 'invalid_assignee', param: 'assignee' }]);
  });
});

describe('somebody who stays', () => {
  it('as something else keeps what they have, and is still found by their address', async () => {
    const [assigned, held] = [await given(), await claimed()];
    for (const role of ['admin', 'reviewer'] as const) {
      const { body } = await server.call('updateMember', server.chief, eve.person_id, { body: { role } });
      expect(body.role).toBe(role);
      expect((await server.call('assignReview', server.chief, await server.ask(), { body: { assignee: eve.email } })).status).toBe(200);
    }
    await server.caughtUp();
    expect(await server.shown(assigned)).toMatchObject({ assignee: eve.email });
    expect(await server.shown(held)).toMatchObject({ held_by: `reviewer:${eve.email}` });
    expect((await approve(held, eve)).body.decided_by).toBe(eve.email);
  });

  it('because they came back keeps what they are given then, and loses it when they leave again', async () => {
    const before = await given();
    await leave();
    await server.caughtUp();
    await comeBack();
    const after = await given(true);
    await server.caughtUp();
    expect([await freed(before), await freed(after)]).toEqual([1, 0]);
    await leave();
    await server.caughtUp();
    expect(await freed(after)).toBe(1);
  });

  it('because they came back before anybody looked keeps what they have', async () => {
    const id = await given();
    await server.caughtUp();
    await server.bus.pause('decisions');
    await leave();
    await comeBack();
    const ended = (await membershipEvents()).filter(({ type }) => type === 'membership.ended');
    await inTransaction(server.db.pool, (tx) => batch(ended, tx));
    expect(await freed(id)).toBe(0);
    await server.bus.resume('decisions');
    await server.caughtUp();
    expect([await freed(id), (await server.shown(id)).assignee]).toEqual([0, eve.email]);
  });
});

describe('a review that gets into the hands of somebody who has left', () => {
  it('at the same moment, is freed all the same', async () => {
    await leave();
    await server.caughtUp();
    const [assigned, held, asked] = [await server.ask(), await server.ask(), await server.ask({ assignee: eve })];
    const { email: assignee, person_id: assignee_id } = eve;
    await server.happen(assigned, server.chief, (state, now) =>
      assign({ actor: server.chief, assignee, assignee_id, hold: null }, state, now),
    );
    await server.happen(held, eve, (state, now) => claim({ actor: eve }, state, now));
    await server.caughtUp();
    for (const id of [assigned, held, asked]) expect([await freed(id), (await server.shown(id)).held_by]).toEqual([1, null]);
  });

  it('is seen by whichever of two processes handles its side second (L1)', async () => {
    await server.bus.pause('decisions');
    const id = await given();
    await leave();
    const assigned = (await server.facts(id)).filter(({ type }) => type === 'review.assigned');
    const ended = (await membershipEvents()).filter(({ type }) => type === 'membership.ended');
    const [first, second] = [await server.db.pool.connect(), await server.db.pool.connect()];
    try {
      await first.query('begin');
      await batch(ended, first);
      await second.query('begin');
      const other = batch(assigned as StoredEvent[], second);
      await Promise.race([other, waiting(second)]);
      await first.query('commit');
      await other;
      await second.query('commit');
    } finally {
      first.release();
      second.release();
    }
    expect(await freed(id)).toBe(1);
    await server.bus.resume('decisions');
    await server.caughtUp();
    expect(await freed(id)).toBe(1);
  });
});

describe('a batch that comes again', () => {
  it('after the process was killed between its commands and its commit: each review is freed once', async () => {
    const ids = [await given(), await claimed(), await given(true)];
    await server.caughtUp();
    await server.bus.pause('decisions');
    await leave();
    const ended = (await membershipEvents()).filter(({ type }) => type === 'membership.ended');
    for (const killed of [1, 2]) {
      const died = inTransaction(server.db.pool, async (tx) => {
        await batch(ended, tx);
        throw new Error(`killed ${killed}`);
      });
      await expect(died).rejects.toThrow(`killed ${killed}`);
    }
    expect(await Promise.all(ids.map(freed))).toEqual([1, 1, 1]);
    await server.bus.resume('decisions');
    await server.caughtUp();
    expect(await Promise.all(ids.map(freed))).toEqual([1, 1, 1]);
    const { rows } = await server.db.pool.query('select review from decisions.in_hand where review = any ($1)', [ids]);
    expect(rows).toEqual([]);
  });

  it('as a replay of the log sends nothing, and leaves the read model as it was', async () => {
    await given();
    await server.caughtUp();
    const tables = async () => ({
      hands: (await server.db.pool.query('select * from decisions.in_hand order by review')).rows,
      departures: (await server.db.pool.query('select * from decisions.departures order by project, person')).rows,
    });
    const [before, { position }] = [await tables(), await server.store.head()];
    expect(before.hands.length).toBeGreaterThan(1);
    await server.bus.seek('decisions', 0);
    await server.caughtUp();
    expect(await tables()).toEqual(before);
    await rebuildProjection(DECISIONS_PROJECTION, { owner: server.db.ownerPool, store: server.store });
    expect(await tables()).toEqual(before);
    expect((await server.store.head()).position).toBe(position);
    await leave();
    await server.caughtUp();
    expect((await tables()).departures).toContainEqual({ project: server.project, person: eve.person_id });
  });
});

describe('a review that cannot be read', () => {
  it('holds up no other of the same person', async () => {
    const ids = [await given(), await given(), await given()];
    const [, newer] = ids as [string, string, string];
    await server.caughtUp();
    // A type of a later release. The subscription parks the review’s own key for it (K10).
    const later = new PostgresEventStore({ pool: server.db.pool, writer: 'test', categories: CATEGORY_PREFIXES });
    await later.append({
      streams: [
        {
          stream: newer,
          project: server.project,
          expectedVersion: 'any',
          events: [{ type: 'review.pondered', body: { id: newId('evt') } }],
        },
      ],
      meta: {},
    });
    await later.close();
    await leave();
    await server.caughtUp();
    expect(await Promise.all(ids.map(freed))).toEqual([1, 0, 1]);
    const parked = await server.bus.parked('decisions');
    expect(parked.map(({ stream }) => stream).sort()).toEqual([newer, server.project].sort());
    expect(parked.find(({ stream }) => stream === server.project)?.reason).toContain('review.pondered');
  });
});
