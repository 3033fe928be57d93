/** What telemetry costs where nobody asked for it: nothing of it is loaded. */
import { OtlpReceiver } from '@countersign/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Server } from '../e2e/server.js';
import { startAllInOne } from '../e2e/topology.js';

jest.setTimeout(180_000);

/** Has a process tell of each module of OpenTelemetry that it loads. */
const TELLING = `--import=data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module';
   registerHooks({ load(url, context, next) { if (url.includes('@opentelemetry')) process._rawDebug('loaded ' + url); return next(url, context); } });`,
)}`;

let server: Server | undefined;
let collector: OtlpReceiver | undefined;
afterEach(async () => {
  await server?.stop();
  await collector?.close();
});

/** Modules that were loaded by a server that has served a review from its request to its decision. */
async function loadedBy(settings: Record<string, string>): Promise<string[]> {
  const running = await Server.start(await startAllInOne({ ...settings, NODE_OPTIONS: TELLING }));
  server = running;
  const { id } = await running.ask();
  expect(await running.admin.act(id, 'approve')).toMatchObject({ decision: 'approved' });
  return running.topology
    .inspect()
    .log.split('\n')
    .filter((line) => line.startsWith('loaded '));
}

describe('telemetry', () => {
  it('is not loaded where no endpoint is set', async () => {
    expect(await loadedBy({})).toEqual([]);
  });

  it('is loaded where one is', async () => {
    collector = await new OtlpReceiver().listen();
    expect((await loadedBy(collector.settings)).join('\n')).toMatch(/@opentelemetry\/api\/.*@opentelemetry\/sdk-node\//s);
  });
});
