import { type Figure, measured } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { type Manner, startProduct, TOPOLOGIES } from '../stage/product.js';

const RATE = 100;

const figure = (manner: Manner, required: number, goal: number): Figure => ({
  name: `webhooks-100-${manner}`,
  title: `decision → signed webhook received, 100/s (${manner})`,
  topology: TOPOLOGIES[manner],
  beside: '',
  claims: [{ what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less', required, goal }],
  seconds: 10,
  async open(stage) {
    const product = await startProduct(manner, stage);
    const secret = product.topology.credentials.webhook_secret;
    return {
      sides: { ours: await forkedSide(beside(import.meta, './webhook-load'), { ...product.access, rate: RATE, secret }) },
      close: () => product.stop(),
    };
  },
});

export const WEBHOOKS_STORE = figure('store', 100, 40);
export const WEBHOOKS_KAFKA = figure('kafka', 150, 80);
