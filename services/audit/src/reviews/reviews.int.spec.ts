import type { Actor, ErrorBody, FeedbackList, Review, ReviewList, Stats } from '@countersign/contracts';
import { idOf, newId } from '@countersign/event-store';
import { encodeCursor } from '@countersign/http';
import { withdraw } from '@countersign/review';
import { agent, ann, doing, foreignAgent, OTHER_PROJECT, PAYLOAD, within } from '@countersign/review/fixture';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from '../server-fixture.js';

let server: Server;

describe('lists', () => {
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  /** Ids of every page, by following next_cursor. */
  async function walk(query: string): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page: string = `${query}&limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await server.call<ReviewList>('listReviews', { query: page });
      ids.push(...body.items.map((item) => item.id));
      cursor = body.next_cursor;
    }
    return ids;
  }

  it('order by urgency, then newest first, and page by cursor as by offset', async () => {
    const asked: Record<string, string> = {};
    for (const [name, priority] of Object.entries({ a: 'normal', b: 'critical', c: 'low', d: 'normal', e: 'high' } as const)) {
      asked[name] = await server.ask({ body: { priority, assignee: 'paging@example.org' } });
    }
    const expected = ['b', 'e', 'd', 'a', 'c'].map((name) => asked[name]);
    const { body } = await server.call<ReviewList>('listReviews', { query: 'assignee=paging@example.org' });
    expect(body.items.map((item) => item.id)).toEqual(expected);
    expect(body).toMatchObject({ total: 5, has_more: false });
    expect(await walk('assignee=paging@example.org')).toEqual(expected);
    const offset = await server.call<ReviewList>('listReviews', { query: 'assignee=paging@example.org&offset=3&limit=1' });
    expect(offset.body.items.map((item) => item.id)).toEqual([expected[3]]);
    expect(offset.body).toMatchObject({ total: 5, has_more: true });
  });

  it('count every combination of filters exactly', async () => {
    const assignee = 'counting@example.org';
    const open = await server.ask({ body: { assignee, priority: 'high' } });
    const approved = await server.ask({ body: { assignee, priority: 'high' } });
    const edited = await server.ask({ body: { assignee, priority: 'low' } });
    await server.decide(approved, ann, doing(ann, 'approve'));
    await server.decide(edited, ann, doing(ann, 'approve', { edited_payload: { subject: 'Better' } }));
    const totals = async (query: string) => (await server.call<ReviewList>('listReviews', { query: `assignee=${assignee}&${query}` })).body;
    expect((await totals('status=decided')).total).toBe(2);
    expect((await totals('status=pending')).items.map((item) => item.id)).toEqual([open]);
    expect((await totals('priority=high')).total).toBe(2);
    expect((await totals('outcome=edited')).items.map((item) => item.id)).toEqual([edited]);
    expect((await totals('outcome=approved&priority=high')).total).toBe(1);
    expect((await totals('outcome=approved&priority=low')).total).toBe(0);
    expect((await totals('template=mail')).total).toBe(3);
    expect((await totals('template=other')).total).toBe(0);
  });

  it('hold nothing of another project, and nothing of a template the key may not use', async () => {
    const foreign = await server.ask({ actor: foreignAgent }, { project_id: OTHER_PROJECT });
    const own = await server.call<ReviewList>('listReviews', { query: 'limit=100' });
    expect(own.body.items.map((item) => item.id)).not.toContain(foreign);
    const theirs = await server.call<ReviewList>('listReviews', { actor: foreignAgent });
    expect(theirs.body.items.map((item) => item.id)).toEqual([foreign]);
    const limited = await server.call<ReviewList>('listReviews', { actor: { ...agent, template_ids: [newId('tpl')] } });
    expect(limited.body).toMatchObject({ items: [], total: 0 });
    expect((await server.call('getReview', { path: { id: foreign } })).status).toBe(404);
  });

  it('show payloads with the keys they have, whatever keys were read before', async () => {
    const assignee = 'escapes@example.org';
    // Read newest first; the key in front makes a shape nobody else uses.
    const payloads = ['"', '\\', '\\'].map((key) => ({ ' listed': 0, ...PAYLOAD, [key]: 1 }));
    for (const payload of payloads) await server.ask({ body: { assignee, payload } });
    const { body } = await server.call<ReviewList>('listReviews', { query: `assignee=${assignee}` });
    expect(body.items.map((item) => item.payload)).toEqual(payloads.toReversed());
  });

  it('refuse a cursor that is none, and a cursor beside an offset', async () => {
    const rev = newId('rev');
    const at = '2026-01-01T00:00:00.000Z';
    const forged = [
      [1, 'x', rev],
      [1e300, at, rev],
      [1.5, at, rev],
      [-99_999, at, rev],
      [1, '5', rev],
      [1, '2026-01-01T00:00:00.000+23:59', rev],
      [1, '2026-02-31T00:00:00.000Z', rev],
      [1, '+275760-09-13T00:00:00.000Z', rev],
      [1, at, 'rev_\u0000'],
    ];
    for (const place of forged) {
      const [, ...decided] = place;
      const list = await server.call<ErrorBody>('listReviews', { query: `cursor=${encodeCursor(place)}` });
      expect([place, list.body.error?.code]).toEqual([place, 'invalid_cursor']);
      if (place[1] === at && place[2] === rev) continue;
      const feedback = await server.call<ErrorBody>('listFeedback', { query: `cursor=${encodeCursor(decided)}` });
      expect([decided, feedback.body.error?.code]).toEqual([decided, 'invalid_cursor']);
    }
    const { status, body } = await server.call<ErrorBody>('listReviews', { query: 'cursor=nonsense' });
    expect([status, body.error.code]).toEqual([400, 'invalid_cursor']);
    const both = await server.call<{ error: { code: string } }>('listReviews', { query: 'cursor=WzFd&offset=0' });
    expect(both.body.error.code).toBe('invalid_cursor');
  });

  it('show the last write of whoever names it, however many came at once', async () => {
    const assignee = 'burst@example.org';
    const ids = await Promise.all(Array.from({ length: 40 }, () => server.ask({ body: { assignee } })));
    const { body } = await server.call<ReviewList>('listReviews', { query: `assignee=${assignee}&limit=100` });
    const [position, bucket] = server.seen().split('.').map(Number);
    // The token names one write of one bucket: what came before it in that bucket is listed, whatever the others have got to.
    const { rows } = await server.db.pool.query<{ stream: string }>(
      'select distinct stream from event_store.events where bucket = $1 and position <= $2',
      [bucket, position],
    );
    const named = rows.map(({ stream }) => idOf('rev', stream)).filter((one) => ids.includes(one));
    expect(named.length).toBeGreaterThan(0);
    expect(body.items.map((item) => item.id)).toEqual(expect.arrayContaining(named));
    await server.bus.caughtUp('audit', (await server.store.head()).position, 'all', 5_000);
    const all = await server.call<ReviewList>('listReviews', { query: `assignee=${assignee}&limit=100` });
    expect(all.body.items.map((item) => item.id).sort()).toEqual(ids.sort());
  });
});

describe('a single review', () => {
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());
  let id: string;
  beforeEach(async () => {
    id = await server.ask(within('expire', 3_600));
  });

  const wait = async (seconds: number, tag?: string) => {
    const { status, body } = await server.raw(`/api/v1/reviews/${id}?wait=${seconds}`, tag === undefined ? {} : { 'if-none-match': tag });
    return { status, review: JSON.parse((body as Buffer).toString()) as Review };
  };

  it('is read from its stream', async () => {
    const { status, body } = await server.call<Review>('getReview', { path: { id } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'pending', payload: PAYLOAD, draft_payload: null, notes: [] });
  });

  it('answers 304 to a tag that still holds, and 404 to ids that are none', async () => {
    const { headers } = await server.raw(`/api/v1/reviews/${id}`);
    const again = await server.raw(`/api/v1/reviews/${id}`, { 'if-none-match': String(headers.etag) });
    expect(again.status).toBe(304);
    for (const none of [newId('rev'), idOf('tpl', '01890000-0000-7000-8000-000000000000'), 'nonsense']) {
      expect((await server.call('getReview', { path: { id: none } })).status).toBe(404);
    }
  });

  it('is seen to have expired at its deadline, and the read writes nothing', async () => {
    const { position } = await server.store.head();
    await server.db.advanceClock(3_600);
    const { body } = await server.call<Review>('getReview', { path: { id } });
    expect(body).toMatchObject({ status: 'expired', decision: null, decided_by: null });
    expect((await server.store.head()).position).toBe(position);
  });

  it('shows a person the unsent edits, and nobody once it has ended, whether or not that is written', async () => {
    const { now } = await server.store.head();
    server.drafts.set(id, { payload: { subject: 'Half' }, by: 'Ann', at: now });
    const drafted = async (actor: Actor) => (await server.call<Review>('getReview', { actor, path: { id } })).body.draft_payload;
    expect([await drafted(ann), await drafted(agent)]).toEqual([{ subject: 'Half' }, null]);
    await server.db.advanceClock(3_600);
    const { body } = await server.call<Review>('getReview', { actor: ann, path: { id } });
    expect(body).toMatchObject({ status: 'expired', draft_payload: null, draft_by: null, draft_at: null });
  });

  it('answers a waiting reader when its wait for changes ends, whether or not that is written', async () => {
    id = await server.ask({ config: { changes_timeout_hours: 1 } });
    await server.decide(id, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
    await server.db.advanceClock(3_599);
    expect((await wait(30)).review.status).toBe('pending');
  });

  it('answers a waiting reader when it is decided', async () => {
    const waiting = wait(30);
    await server.decide(id, ann, doing(ann, 'approve'));
    expect((await waiting).review).toMatchObject({ status: 'decided', decision: 'approved' });
  });

  it('answers at once what is settled, and a tag that no longer holds', async () => {
    await server.decide(id, agent, (state, now) => withdraw({ actor: agent }, state, now));
    expect((await wait(30)).review.status).toBe('expired');
    id = await server.ask();
    expect((await wait(30, '"stale"')).review.status).toBe('pending');
  });

  it('answers 200 with the state as it is when the time is over', async () => {
    const { headers } = await server.raw(`/api/v1/reviews/${id}`);
    const answer = await wait(1, String(headers.etag));
    expect([answer.status, answer.review.status]).toEqual([200, 'pending']);
  });

  it('lists what the agent sent, newest first', async () => {
    await server.decide(id, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
    const { resubmit } = await import('@countersign/review');
    const payload = { ...PAYLOAD, subject: 'Hi' };
    await server.decide(id, agent, (state, now) => resubmit({ actor: agent, payload, version: 2 }, state, now));
    const { body } = await server.call<{ items: unknown[] }>('listReviewVersions', { path: { id } });
    expect(body.items).toMatchObject([
      { version: 2, payload, feedback: 'Shorter.' },
      { version: 1, payload: PAYLOAD, feedback: null },
    ]);
  });
});

describe('what people decided', () => {
  beforeAll(async () => {
    server = await startServer();
    let at = Date.UTC(2026, 10, 30, 12);
    const decided = async (seconds: number, ...how: Parameters<typeof doing>) => {
      await server.db.stopClock(new Date(at).toISOString());
      const id = await server.ask();
      at += seconds * 1_000;
      await server.db.stopClock(new Date(at).toISOString());
      await server.decide(id, ann, doing(...how));
    };
    await decided(10, ann, 'approve');
    await decided(20, ann, 'approve');
    await decided(30, ann, 'reject', { feedback: 'No.' });
    await decided(59, ann, 'approve', { edited_payload: { subject: 'Better' } });
    await server.ask({ config: { auto_approve: true } });
    await server.ask();
  });
  afterAll(() => server.close());

  it('is found by outcome, with totals of all matches', async () => {
    const edited = await server.call<FeedbackList>('listFeedback', { query: 'outcome=edited' });
    expect(edited.body).toMatchObject({
      total: 1,
      items: [
        { decision: 'edited', was_edited: true, approved_value: { ...PAYLOAD, subject: 'Better' }, edited_payload: { subject: 'Better' } },
      ],
    });
    const first = await server.call<FeedbackList>('listFeedback', { query: 'limit=2' });
    expect(first.body).toMatchObject({ total: 5, has_more: true });
    const rest = await server.call<FeedbackList>('listFeedback', { query: `limit=10&cursor=${first.body.next_cursor}` });
    const ids = [...first.body.items, ...rest.body.items].map((item) => item.review_id);
    expect(new Set(ids).size).toBe(5);
    expect(rest.body.has_more).toBe(false);
  });

  it('is counted for the project and for its template', async () => {
    const { body } = await server.call<Stats>('getStats');
    expect(body).toMatchObject({
      total: 6,
      by_status: { decided: 5, pending: 1 },
      by_decision: { approved: 3, rejected: 1, edited: 1 },
      // Of the four that a person decided.
      avg_review_time_ms: 29_750,
      by_template: [{ template_slug: 'mail', count: 6 }],
    });
    expect(body.reviews_per_day).toHaveLength(30);
    expect(body.reviews_per_day.at(-1)).toMatchObject({ count: 6 });
  });
});
