/** Plays every scenario on a topology: undisturbed, or with the topology's kill at its first moment or at each, in one manner after the other. */

import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyDifferences } from './history.js';
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
      const killed: string[] = [];
      const played = scenario(server, async () => {
        moments += 1;
        if (manner === 'undisturbed' || (manner === 'with one killed in each scenario' && moments > 1)) return;
        const began = new Date().toISOString();
        const names = await server.topology.killAndRestart();
        killed.push(`at moment ${moments}, ${began}: ${names.join(', ')}`);
      });
      await played.catch((error: unknown) => {
        if (killed.length === 0) throw error;
        // What it takes to play it again as it was.
        throw new Error(`Killed in this scenario:\n${killed.join('\n')}\n\n${(error as Error).message}`, { cause: error });
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

    it('told each agent what the log says it is owed, in order: nothing lost, doubled, reordered or changed', async () => {
      let found: string[] = [];
      const all = async () => {
        found = await historyDifferences(server);
        return found.length === 0;
      };
      await until('every webhook', all).catch(() => expect(found).toEqual([]));
      expect(server.receiver.received.length).toBeGreaterThan(20);
    });
  });
}
