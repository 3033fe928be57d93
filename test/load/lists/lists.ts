import { type Claim, type Figure, ratio, type Stage } from '../figure.js';
import { Client } from '../http/client.js';
import { approve, createReview } from '../http/reviews.js';
import { caughtUp } from '../stage/caught-up.js';
import { fillLog } from '../stage/filled-log.js';
import { beside, forkedSide } from '../stage/forked.js';
import { type Product, startProduct, TOPOLOGIES } from '../stage/product.js';

/** A round of five seconds is asked of a million reviews. */
const REVIEWS_PER_S = 200_000;
const SMALL = 100;
/** One in so many waits for somebody. */
const PENDING = 10;

const claim = (what: string, measure: string): Claim => ({
  what,
  unit: '×',
  value: ratio(measure, 'large', 'small'),
  better: 'less',
  required: 1.2,
  goal: 1.05,
});

export const LISTS: Figure = {
  name: 'lists',
  title: 'list, search, feedback by cursor at 1,000,000 reviews',
  topology: `${TOPOLOGIES.store} The reviews are appended through the store and projected by the server itself; four readers; median times.`,
  beside: 'the same server with 10,000 reviews.',
  claims: [
    claim('list, first page', 'list_p50_ms'),
    claim('pending of a template', 'found_p50_ms'),
    claim('list, 20 pages down', 'far_p50_ms'),
    claim('feedback, 20 pages down', 'feedback_p50_ms'),
  ],
  async open(stage) {
    const reviews = Math.max(2_000, Math.round(REVIEWS_PER_S * stage.seconds));
    const small = await startProduct('store', { ...stage, folder: `${stage.folder}/small` });
    await fill(small, Math.max(2_000, Math.round(reviews / SMALL)), stage);
    const large = await startProduct('store', { ...stage, folder: `${stage.folder}/large` });
    await fill(large, reviews, stage);
    return {
      sides: {
        large: await forkedSide(beside(import.meta, './list-load'), large.access),
        small: await forkedSide(beside(import.meta, './list-load'), small.access),
      },
      async close() {
        await large.stop();
        await small.stop();
      },
    };
  },
};

async function fill({ access, topology }: Product, reviews: number, stage: Stage): Promise<void> {
  const client = new Client(access.url, 1);
  const model = await createReview(client, access);
  await approve(client, access, model);
  await client.close();
  const { database } = access;
  const vary: Parameters<typeof fillLog>[0]['vary'] = (events, nth) => (nth % PENDING === 0 ? events.slice(0, 1) : events);
  await fillLog({ database, model, reviews, vary, onProgress: (done) => stage.say(`${done} of ${reviews} reviews appended`) });
  stage.say('waiting for the read models');
  await caughtUp(topology);
  await topology.query('vacuum analyze');
}
