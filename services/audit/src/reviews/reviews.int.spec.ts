import type { Actor, ErrorBody, FeedbackList, Review, ReviewList } from '@countersign/contracts';
import { idOf, newId } from '@countersign/event-store';
import { encodeCursor } from '@countersign/http';
import { archive, elapse, withdraw } from '@countersign/review';
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
  async function walk(query: string, between: () => Promise<unknown> = async () => {}): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page: string = `${query}&limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await server.call<ReviewList>('listReviews', { query: page });
      await between();
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

  it('order what is over by its end, the latest first, over all pages, whatever happens to it since', async () => {
    const assignee = 'over@example.org';
    const query = `assignee=${assignee}&sort=settled_at`;
    const asked: Record<string, string> = {};
    for (const [name, more] of Object.entries({
      first: { body: { assignee, priority: 'critical' } },
      withdrawn: { body: { assignee } },
      lapsed: { body: { assignee, timeout: { seconds: 60, action: 'expire' } } },
      last: { body: { assignee, priority: 'low' } },
      open: { body: { assignee } },
    } as const)) {
      asked[name] = await server.ask(more);
    }
    const of = (...names: string[]) => names.map((name) => asked[name]);
    await server.decide(asked.first as string, ann, doing(ann, 'approve'));
    await server.decide(asked.withdrawn as string, agent, (state, now) => withdraw({ actor: agent }, state, now));
    await server.db.advanceClock(120);
    await server.decide(asked.last as string, ann, doing(ann, 'reject', { feedback: 'No.' }));
    // Recorded last, and dated at its deadline (decision 25).
    await server.decide(asked.lapsed as string, null, (state, now) => elapse('timeout', state, now));
    await server.decide(asked.first as string, ann, (state, now) => archive({ actor: ann }, state, now));
    const expected = of('last', 'lapsed', 'withdrawn', 'first');
    expect((await server.call<ReviewList>('listReviews', { query })).body).toMatchObject({ total: 4, has_more: false });
    // What is settled while somebody reads on comes in front of what they have read.
    const later = async () => server.decide(await server.ask({ body: { assignee } }), ann, doing(ann, 'approve'));
    expect(await walk(query, later)).toEqual(expected);
    const page = async (more: string) => {
      const { body } = await server.call<ReviewList>('listReviews', { query: `${query}&${more}` });
      return [body.items.map((item) => item.id), body.total];
    };
    expect(await page('status=expired')).toEqual([of('lapsed', 'withdrawn'), 2]);
    expect(await page('status=archived')).toEqual([of('first'), 1]);
    expect(await page('outcome=rejected')).toEqual([of('last'), 1]);
    expect(await page('status=pending')).toEqual([[], 0]);
    const { body } = await server.call<ReviewList>('listReviews', { query: `assignee=${assignee}&limit=1` });
    const other = await server.call<ErrorBody>('listReviews', { query: `${query}&cursor=${body.next_cursor}` });
    expect(other.body.error.code).toBe('invalid_cursor');
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
    const changing = await server.ask({ body: { assignee, priority: 'critical' } });
    await server.decide(changing, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
    for (const status of ['awaiting_iteration', 'changes_requested']) {
      expect(await totals(`status=${status}`)).toMatchObject({ total: 1, items: [{ id: changing }] });
    }
    expect((await totals('priority=high')).total).toBe(2);
    expect((await totals('outcome=edited')).items.map((item) => item.id)).toEqual([edited]);
    expect((await totals('outcome=approved&priority=high')).total).toBe(1);
    expect((await totals('outcome=approved&priority=low')).total).toBe(0);
    expect((await totals('template=mail')).total).toBe(4);
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
    const decided = await server.ask();
    await server.decide(decided, ann, doing(ann, 'approve'));
    const feedback = async (template_ids: string[] | null) =>
      server.call<FeedbackList>('listFeedback', { actor: { ...agent, template_ids } });
    expect((await feedback(null)).body.items.map((item) => item.review_id)).toContain(decided);
    expect((await feedback([newId('tpl')])).body).toMatchObject({ items: [], total: 0 });
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
