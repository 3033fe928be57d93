import type { FeedbackList, Stats } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { agent, ann, doing, PAYLOAD } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from '../server-fixture.js';

let server: Server;

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
    const byOffset = await server.call<FeedbackList>('listFeedback', { query: 'limit=10&offset=2' });
    expect(byOffset.body).toMatchObject({ total: 5, items: rest.body.items });
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

  it('is counted for a key that is limited to some templates as if there were no others', async () => {
    const stats = async (template_ids: string[]) => (await server.call<Stats>('getStats', { actor: { ...agent, template_ids } })).body;
    const none = await stats([newId('tpl')]);
    expect(none).toMatchObject({ total: 0, by_status: {}, by_decision: {}, avg_review_time_ms: null, by_template: [] });
    expect(none.reviews_per_day.map(({ count }) => count)).toEqual(Array(30).fill(0));
    const { rows } = await server.db.pool.query<{ template: string }>('select distinct template from audit.tallies');
    const all = await stats([newId('tpl'), ...rows.map(({ template }) => template)]);
    expect(all).toEqual((await server.call<Stats>('getStats')).body);
    expect(all.reviews_per_day.at(-1)).toMatchObject({ count: 6 });
  });
});
