/**
 * Two of each service: every process is told to stop and started again, one of each service at a time, while agents ask and people decide, and nobody
 * notices. Then two releases side by side, under the same load: the database is migrated first, then every process is replaced, one of each service at a time. The new release
 * writes a type of event the old one does not know, at once; that is one release earlier than ours do (K10), and loses nothing all the same.
 *
 * `FAULT_PREVIOUS=<revision>`: the old release is that revision of this repository, and the new one this tree.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder, spawnProgram, until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Server } from '../../e2e/server.js';
import { type ReplicatedTopology, startReplicas } from '../../e2e/topology.js';
import { Traffic } from '../traffic/traffic.js';
import { outage } from './outage.js';
import { builtRevision } from './revision.js';

jest.setTimeout(400_000);

const REVISION = process.env.FAULT_PREVIOUS;
const releases = scratchFolder();
const dataDir = join(releases.path, 'data');
const previous = REVISION === undefined ? null : builtRevision(REVISION, releases.path);

/** Options under which Node starts as one release or the other. */
function as(which: 'new' | 'told'): { NODE_OPTIONS: string } {
  const said = { folder: releases.path, ...(previous ? { previous: previous.tree } : {}), as: which };
  return { NODE_OPTIONS: `--import ${new URL(`release.mjs?${encodeURIComponent(JSON.stringify(said))}`, import.meta.url).href}` };
}

let topology: ReplicatedTopology;
let server: Server;
beforeAll(async () => {
  topology = await startReplicas(as('told'), dataDir);
  server = await Server.start(topology);
});
afterAll(async () => {
  await server?.stop();
  previous?.remove();
  releases.remove();
});

async function migrate(): Promise<void> {
  const { code, stderr } = await spawnProgram('node', ['services/platform/bin/countersign.js', 'migrate'], {
    env: { DATA_DIR: dataDir, ...as('new') },
  }).exited;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

type Processes = [pid: number, process: { service: string; port: number }][];

/** One process of each service, then the others. */
function rounds(all: Processes): Processes[] {
  const first = new Set(new Map(all.map(([pid, { service }]) => [service, pid])).values());
  return [all.filter(([pid]) => first.has(pid)), all.filter(([pid]) => !first.has(pid))];
}

/** Tells the processes to stop, and waits until each of them is there again. */
async function restart(processes: Processes): Promise<void> {
  for (const [pid] of processes) process.kill(pid, 'SIGTERM');
  await until('all to be started again', async () => {
    const running = await topology.processes();
    return processes.every(([pid]) => !running.has(pid));
  });
}

const parked = () => topology.query<{ type: string | null }>('select unknown_type as type from event_bus.parked where released_at is null');
const stamped = async () => (await topology.query(`select from event_store.events where type = 'review.stamped'`)).length;

/** Callers at once in a restart; each asks, decides, reads, and begins again. */
const CALLERS = 4;

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
    for (const round of rounds(all)) {
      const done = decided.length;
      await restart(round);
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

describe('a rolling upgrade', () => {
  it('with a migration and a new type of event loses nothing: what the old release cannot know waits for the new one', async () => {
    let waited = false;
    await Traffic.prepare(server);
    await outage(server, async ({ recorder }) => {
      await migrate();
      await recorder.moves(20);
      for (const round of rounds([...(await topology.processes())])) {
        for (const [, { service, port }] of round) writeFileSync(join(releases.path, `${service}-${port}`), '');
        await restart(round);
        await recorder.moves(20);
        waited ||= (await parked()).length > 0;
      }
    });
    await until('what was parked to be released', async () => (await parked()).length === 0);
    if (previous === null) {
      expect(waited).toBe(true);
      expect(await stamped()).toBeGreaterThan(0);
    }
  });
});
