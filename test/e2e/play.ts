/** Plays every scenario on a topology: undisturbed, or with the topology's kill at its first moment or at each, in one manner after the other. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCENARIOS } from './scenarios.js';
import { Server } from './server.js';
import type { Topology } from './topology.js';

type Manner = 'undisturbed' | 'with one killed in each scenario' | 'killed and started again at every moment';

export function playScenarios(name: string, start: () => Promise<Topology>, manners: readonly Manner[]): void {
  let server: Server;

  beforeAll(async () => {
    server = await Server.start(await start());
  });
  afterAll(() => server?.stop());

  describe.each(manners)(`the product, ${name}, %s`, (manner) => {
    it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
      let moments = 0;
      await scenario(server, async () => {
        moments += 1;
        if (manner === 'undisturbed' || (manner === 'with one killed in each scenario' && moments > 1)) return;
        await server.topology.killAndRestart();
      });
      expect(moments).toBeGreaterThan(0);
    });

    it('leaves a log that verifies, and every review settled once at most', async () => {
      const report = await server.admin.do('verifyAudit');
      expect(report).toMatchObject({ valid: true, first_bad: null });
      const settled = await server.topology.query<{ stream: string; times: number }>(
        `select stream, count(*)::int as times from event_store.events where type in ('review.decided', 'review.expired') group by stream`,
      );
      expect(settled.length).toBeGreaterThan(8);
      expect(settled.filter(({ times }) => times > 1)).toEqual([]);
    });
  });
}
