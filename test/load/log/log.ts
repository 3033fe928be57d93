import { join } from 'node:path';
import { startEmbeddedPostgres } from '@countersign/database';
import { type Figure, measured } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { fillLog } from '../stage/filled-log.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct } from '../stage/product.js';

const REVIEWS_PER_S = 20_000;

export const LOG: Figure = {
  name: 'log',
  title: 'rebuild of the largest read model; verify',
  topology:
    'What `countersign rebuild audit` and `countersign verify` run, one Node process each over the embedded PostgreSQL; no server. A log of requested and approved reviews.',
  beside: '',
  claims: [
    { what: 'rebuild', unit: '/s', value: (round) => measured(round, 'rebuild', 'per_s'), better: 'more', required: 20_000, goal: 40_000 },
    { what: 'verify', unit: '/s', value: (round) => measured(round, 'verify', 'per_s'), better: 'more', required: 60_000, goal: 100_000 },
  ],
  async open(stage) {
    const product = await startProduct('store', stage);
    const { access } = product;
    const client = new Client(access.url, 1);
    const model = await createReview(client, access);
    await approve(client, access, model);
    await client.close();
    const server = await begunAnew(product);
    stage.say('filling the log');
    await fillLog({ database: server.url, model, reviews: Math.ceil(REVIEWS_PER_S * stage.seconds) });
    return {
      sides: {
        rebuild: await forkedSide(beside(import.meta, './reading'), { database: server.url, what: 'rebuild' }),
        verify: await forkedSide(beside(import.meta, './reading'), { database: server.url, what: 'verify' }),
      },
      close: () => server.stop(),
    };
  },
};

/** The product's PostgreSQL without the product. */
async function begunAnew({ topology, dataDir }: Awaited<ReturnType<typeof startProduct>>) {
  await topology.stop();
  return startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
}
