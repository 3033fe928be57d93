import { type Figure, measured } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { type Manner, startProduct, TOPOLOGIES } from '../stage/product.js';

const RATE = 200;

const figure = (manner: Manner): Figure => ({
  name: `http-200-${manner}`,
  title: `POST /reviews, then decide, at 200/s (${manner})`,
  topology: TOPOLOGIES[manner],
  beside: '',
  claims: [
    {
      what: 'requests, p99',
      unit: 'ms',
      value: (round) => measured(round, 'ours', 'create_p99_ms'),
      better: 'less',
      required: 50,
      goal: 20,
    },
    {
      what: 'decisions, p99',
      unit: 'ms',
      value: (round) => measured(round, 'ours', 'decide_p99_ms'),
      better: 'less',
      required: 50,
      goal: 20,
    },
  ],
  seconds: 10,
  async open(stage) {
    const product = await startProduct(manner, stage);
    return {
      sides: { ours: await forkedSide(beside(import.meta, './open-load'), { ...product.access, rate: RATE }) },
      close: () => product.stop(),
    };
  },
});

export const HTTP_200_STORE = figure('store');
export const HTTP_200_KAFKA = figure('kafka');
