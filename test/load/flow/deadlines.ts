import { type Figure, measured } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct, TOPOLOGIES } from '../stage/product.js';

const RATE = 1_000;

export const DEADLINES: Figure = {
  name: 'deadlines-1000',
  title: 'deadline lateness, 1,000 due a second',
  topology: `${TOPOLOGIES.store} The requests are appended through the store; every consumer runs.`,
  beside: '',
  claims: [
    { what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less', required: 250, goal: 25 },
    { what: 'early', unit: '', value: (round) => measured(round, 'ours', 'early_count'), better: 'less', required: 0, goal: 0 },
  ],
  async open(stage) {
    const product = await startProduct('store', stage);
    return {
      sides: { ours: await forkedSide(beside(import.meta, './deadlines-load'), { ...product.access, rate: RATE }) },
      close: () => product.stop(),
    };
  },
};
