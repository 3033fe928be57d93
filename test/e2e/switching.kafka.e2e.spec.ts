/** One process or many are two ways to run the same product on the same data. */
import { join } from 'node:path';
import { scratchFolder } from '@countersign/platform/fixture';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { arrived, hook } from './scenarios/scenario.js';
import { DRAFT, Server } from './server.js';
import { startAllInOne, startServices } from './topology.js';

jest.setTimeout(180_000);

const folder = scratchFolder();
const dataDir = join(folder.path, 'data');
let running: Server | null = null;

/** Ends what runs, and starts the product the other way on the same data. */
async function go(on: typeof startAllInOne): Promise<Server> {
  const receiverPort = running?.receiver.port;
  await running?.stop();
  running = null;
  running = await Server.start(await on({}, dataDir), receiverPort === undefined ? undefined : { receiverPort });
  return running;
}
afterAll(async () => {
  await running?.stop();
  folder.remove();
});

describe('the topology of a data directory', () => {
  it('is switched between requests: what one begins another ends', async () => {
    const first = await go(startAllInOne);
    const path = hook();
    const { id } = await first.ask({ callback_url: first.receiver.url(path) });

    const second = await go(startServices);
    second.receiver.url(path);
    await second.admin.act(id, 'request_changes', { feedback: 'Shorter.' });
    await second.agent.do('resubmitReview', { path: { id }, body: { payload: DRAFT, version: 2 } });
    await arrived(second, path, ['review.retried']);

    const third = await go(startAllInOne);
    third.receiver.url(path);
    await third.admin.act(id, 'approve');
    await arrived(third, path, ['review.action_taken', 'review.decided']);
    expect(await third.agent.review(id)).toMatchObject({ status: 'decided', decision: 'approved' });
    expect(await third.admin.do('verifyAudit')).toMatchObject({ valid: true, first_bad: null });
  });
});
