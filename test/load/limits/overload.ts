import { type Figure, measured } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct, TOPOLOGIES } from '../stage/product.js';

const of = (what: string, beside: string) => (round: Parameters<typeof measured>[0]) =>
  measured(round, 'ours', what) / measured(round, 'ours', beside);

export const OVERLOAD: Figure = {
  name: 'overload',
  title: 'overload: three times what it can carry',
  topology: `${TOPOLOGIES.store} What it carries is what 64 connections get in a closed loop, measured first.`,
  beside: '',
  claims: [
    {
      what: 'refused without Retry-After',
      unit: '',
      value: (round) => measured(round, 'ours', 'unsaid_count'),
      better: 'less',
      required: 0,
    },
    { what: 'other failures', unit: '', value: (round) => measured(round, 'ours', 'broken_count'), better: 'less', required: 0 },
    {
      what: 'accepted p99, of that of 64 connections',
      unit: '×',
      value: of('accepted_p99_ms', 'saturated_p99_ms'),
      better: 'less',
      required: 2,
    },
    { what: 'p99 right after, of before', unit: '×', value: of('after_p99_ms', 'before_p99_ms'), better: 'less', required: 2 },
    { what: 'accepted, of what it carries', unit: '×', value: of('accepted_per_s', 'carried_per_s'), better: 'more' },
  ],
  async open(stage) {
    const product = await startProduct('store', stage);
    return { sides: { ours: await forkedSide(beside(import.meta, './overload-load'), product.access) }, close: () => product.stop() };
  },
};
