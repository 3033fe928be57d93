/** Plays every scenario on a topology: undisturbed, and where `killed` is set with everything that decides killed at each of its moments. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCENARIOS } from './scenarios.js';
import { Server } from './server.js';
import type { Topology } from './topology.js';

export function playScenarios(name: string, start: () => Promise<Topology>, { killed }: { killed: boolean }): void {
  let server: Server;

  beforeAll(async () => {
    server = await Server.start(await start());
  });
  afterAll(() => server?.stop());

  async function soundLog(): Promise<void> {
    const report = await server.admin.do('verifyAudit');
    expect(report).toMatchObject({ valid: true, first_bad: null });
    const settled = await server.topology.query<{ stream: string; times: number }>(
      `select stream, count(*)::int as times from event_store.events where type in ('review.decided', 'review.expired') group by stream`,
    );
    expect(settled.length).toBeGreaterThan(8);
    expect(settled.filter(({ times }) => times > 1)).toEqual([]);
  }

  describe(`the product, ${name}`, () => {
    it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
      await scenario(server, async () => {});
    });

    it('leaves a log that verifies, and every review settled once at most', soundLog);
  });

  if (!killed) return;
  describe(`the product, ${name}, killed and started again at every moment`, () => {
    it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
      await scenario(server, () => server.topology.killAndRestart());
    });

    it('leaves a log that verifies, and every review settled once at most', soundLog);
  });
}
