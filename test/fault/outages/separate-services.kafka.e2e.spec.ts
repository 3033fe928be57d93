/** Separate services over Kafka: no broker answers for a while; the wall clock of one process is set by an hour while it works, and back. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalKafka, startLocalKafka } from '@countersign/local-kafka';
import { scratchFolder, until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Server } from '../../e2e/server.js';
import { startServices } from '../../e2e/topology.js';
import { Traffic } from '../traffic/traffic.js';
import { outage } from './outage.js';

/** Seconds; when not given, until every service has noticed. */
const OUTAGE = Number(process.env.KAFKA_OUTAGE ?? 0);
jest.setTimeout(300_000 + OUTAGE * 1_000);

const HOUR_MS = 3_600_000;
const SERVICES = ['gateway', 'directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit'];

const folder = scratchFolder();
let kafka: LocalKafka;
let server: Server;
beforeAll(async () => {
  kafka = await startLocalKafka({ dataDir: join(folder.path, 'kafka') });
  const preload = new URL(`set-clock.mjs?${encodeURIComponent(folder.path)}`, import.meta.url);
  server = await Server.start(await startServices({ KAFKA_BROKERS: kafka.brokers, NODE_OPTIONS: `--import ${preload.href}` }));
  await Traffic.prepare(server);
});
afterAll(async () => {
  kafka?.signal('SIGCONT');
  await server?.stop();
  await kafka?.stop();
  folder.remove();
});

const readiness = async () =>
  (await (await fetch(`${server.url}/health/ready`)).json()) as { status: string; checks: Record<string, { ok: boolean }> };

describe('brokers that do not answer', () => {
  it('hold up no decision and no answer, are told in the readiness, and everything that waited arrives in order', async () => {
    const refused = await outage(server, async ({ recorder, arrivals }) => {
      kafka.signal('SIGSTOP');
      const stopped = performance.now();
      const consuming = ['intake', 'decisions', 'webhooks', 'audit', 'bus'];
      await until('every service to notice', async () => {
        const { status, checks } = await readiness();
        return status === 'degraded' && consuming.every((name) => checks[name]?.ok === false);
      });
      const arrived = arrivals.length;
      await recorder.moves(60);
      await until('the outage to last', () => performance.now() - stopped >= OUTAGE * 1_000);
      await recorder.moves(10);
      // Nothing is told that went another way.
      expect(arrivals.length).toBe(arrived);
      kafka.signal('SIGCONT');
    });
    expect(refused).toBe(0);
  });
});

/** Whole at once: whoever reads it never sees half. */
function set(service: string, beside: number): void {
  const file = join(folder.path, service);
  writeFileSync(`${file}.new`, String(beside));
  renameSync(`${file}.new`, file);
}

describe('the clock of one process set by an hour', () => {
  it('forward and back is noticed by nobody, whichever process it is', async () => {
    const refused = await outage(server, async ({ recorder }) => {
      for (const service of SERVICES) {
        for (const beside of [HOUR_MS, -HOUR_MS, 0]) {
          set(service, beside);
          await recorder.moves(8);
        }
      }
    });
    expect(refused).toBe(0);
  });
});
