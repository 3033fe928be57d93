import { type Figure, measured, ratio } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct, TOPOLOGIES } from '../stage/product.js';

export const DEAD_ENDPOINT: Figure = {
  name: 'dead-endpoint',
  title: 'deliveries with one dead endpoint in ten',
  topology: `${TOPOLOGIES.store} The decisions are appended through the store; the dead endpoint takes connections and never answers.`,
  beside: 'all ten healthy, on a server of their own.',
  claims: [
    { what: 'of all healthy', unit: '×', value: ratio('per_s', 'dead', 'healthy'), better: 'more', required: 0.9, goal: 1 },
    { what: 'deliveries', unit: '/s', value: (round) => measured(round, 'healthy', 'per_s'), better: 'more' },
  ],
  async open(stage) {
    const products = {
      dead: await startProduct('store', { ...stage, folder: `${stage.folder}/dead` }),
      healthy: await startProduct('store', { ...stage, folder: `${stage.folder}/healthy` }),
    };
    const side = (dead: boolean) =>
      forkedSide(beside(import.meta, './delivery-load'), { ...products[dead ? 'dead' : 'healthy'].access, dead });
    return {
      sides: { dead: await side(true), healthy: await side(false) },
      async close() {
        await products.dead.stop();
        await products.healthy.stop();
      },
    };
  },
};
