/** Every process is told to stop and started again, one of each service at a time, while agents ask and people decide: nobody notices. */
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Server } from './server.js';
import { type ReplicatedTopology, startReplicas } from './topology.js';

jest.setTimeout(300_000);

/** Callers at once; each asks, decides, reads, and begins again. */
const CALLERS = 4;

let topology: ReplicatedTopology;
let server: Server;
beforeAll(async () => {
  topology = await startReplicas();
  server = await Server.start(topology);
});
afterAll(() => server?.stop());

describe('a rolling restart', () => {
  it.each(['services', 'gateways'])('of all %s fails no request, and what was answered holds', async (which) => {
    const decided: string[] = [];
    const failures: string[] = [];
    let going = true;
    const caller = async () => {
      while (going) {
        try {
          const { id } = await server.ask();
          await server.admin.act(id, 'approve');
          expect((await server.agent.review(id)).decision).toBe('approved');
          decided.push(id);
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    const callers = Array.from({ length: CALLERS }, caller);
    const all = [...(await topology.processes())].filter(([, { service }]) => (service === 'gateway') === (which === 'gateways'));
    // One process of each service at a time.
    const first = new Map(all.map(([pid, { service }]) => [service, pid]));
    const rounds = [[...first.values()], all.map(([pid]) => pid).filter((pid) => ![...first.values()].includes(pid))];
    for (const pids of rounds) {
      const done = decided.length;
      for (const pid of pids) process.kill(pid, 'SIGTERM');
      await until('all to be started again', async () => {
        const running = await topology.processes();
        return pids.every((pid) => !running.has(pid));
      });
      expect(decided.length).toBeGreaterThan(done);
    }
    going = false;
    await Promise.all(callers);
    expect(failures).toEqual([]);
    const rows = await topology.query<{ times: number }>(
      `select count(*) filter (where type = 'review.decided')::int as times from event_store.events where category = 'review' group by stream`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(decided.length);
    expect(rows.filter(({ times }) => times !== 1)).toEqual([]);
    expect(await server.admin.do('verifyAudit')).toMatchObject({ valid: true });
  });
});
