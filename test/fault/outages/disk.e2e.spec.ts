/** A PostgreSQL whose disk is full: first its tables cannot grow, then it cannot write its log and ends. */
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Traffic } from '../traffic/traffic.js';
import { type BehindProxy, startBehindProxy } from './behind-proxy.js';
import { outage } from './outage.js';
import { SmallDisk, whyNoDisk } from './small-disk.js';

jest.setTimeout(300_000);

const MEGABYTES = 400;
const why = whyNoDisk();
const where = why === null ? describe : describe.skip;

where(`decisions succeed or are told to come again while the disk of PostgreSQL is full${why === null ? '' : ` (not run: ${why})`}`, () => {
  let product: BehindProxy;
  let disk: SmallDisk;
  beforeAll(async () => {
    product = await startBehindProxy({ wal_recycle: 'off', min_wal_size: '32MB', wal_init_zero: 'on' }, (folder) => {
      disk = SmallDisk.under(folder, MEGABYTES);
      return () => disk.remove();
    });
    await Traffic.prepare(product.server);
  });
  afterAll(() => product?.stop());

  it('and its tables cannot grow', async () => {
    const refused = await outage(product.server, async ({ recorder }) => {
      disk.fill();
      await until('callers to be refused', () => recorder.unanswered >= 4);
      disk.empty();
    });
    expect(refused).toBeGreaterThanOrEqual(4);
  });

  it('and it could not write its log, ended, and was started again by an operator who had made room', async () => {
    const refused = await outage(product.server, async ({ recorder }) => {
      disk.fill();
      const before = recorder.unanswered;
      let ended = false;
      void product.database().exited.then(() => {
        ended = true;
      });
      await until('PostgreSQL to end', async () => {
        await product.query('select pg_switch_wal()').catch(() => {});
        return ended;
      });
      await until('callers to be refused', () => recorder.unanswered >= before + 4);
      disk.empty();
      await product.restartDatabase();
    });
    expect(refused).toBeGreaterThanOrEqual(4);
  });
});
