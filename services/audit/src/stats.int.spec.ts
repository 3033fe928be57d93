import { ann, doing, PROJECT } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { templateStats } from './queries/stats.js';
import { type Server, startServer } from './server-fixture.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

describe('the stats of a template', () => {
  it('count what people decided, in whole percents, and how long it took them', async () => {
    await server.db.stopClock('2030-01-01T00:00:00.000Z');
    const [first, second, third, changed] = await Promise.all(Array.from({ length: 5 }, () => server.ask()));
    await server.db.stopClock('2030-01-01T00:01:30.000Z');
    await server.decide(first as string, ann, doing(ann, 'approve'));
    await server.decide(second as string, ann, doing(ann, 'approve'));
    await server.decide(third as string, ann, doing(ann, 'reject', { feedback: 'No.' }));
    await server.decide(changed as string, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
    expect(await server.bus.caughtUp('audit', (await server.store.head()).position, 'all', 60_000)).toBe(true);
    const { rows } = await server.db.pool.query<{ template: string }>('select distinct template from audit.tallies');
    expect(rows).toHaveLength(1);
    expect(await templateStats(server.db.pool, PROJECT, rows[0]?.template as string)).toMatchObject({
      total_reviews: 5,
      human_decided: 3,
      auto_approved: 0,
      pending_now: 1,
      waiting_now: 1,
      approval_rate: 67,
      rejection_rate: 33,
      edit_rate: 0,
      avg_decision_minutes: 1.5,
    });
  });
});
