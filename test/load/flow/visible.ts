import { type Figure, measured } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { type Manner, startProduct, TOPOLOGIES } from '../stage/product.js';

const RATE = 200;

const figure = (manner: Manner, required: number, goal: number): Figure => ({
  name: `visible-${manner}`,
  title: `event → read model visible, at 200 requests and decisions a second (${manner})`,
  topology: TOPOLOGIES[manner],
  beside: '',
  claims: [{ what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less', required, goal }],
  seconds: 10,
  async open(stage) {
    const product = await startProduct(manner, stage);
    return {
      sides: { ours: await forkedSide(beside(import.meta, './visible-load'), { ...product.access, rate: RATE }) },
      close: () => product.stop(),
    };
  },
});

export const VISIBLE_STORE = figure('store', 50, 20);
export const VISIBLE_KAFKA = figure('kafka', 100, 40);
