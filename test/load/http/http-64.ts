import { type Figure, measured, ratio } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct, TOPOLOGIES } from '../stage/product.js';
import { plain } from './plain.js';

const CONNECTIONS = 64;

export const HTTP_64: Figure = {
  name: 'http-64',
  title: 'POST /reviews and decide, 64 connections',
  topology: TOPOLOGIES.store,
  beside:
    'a Fastify handler that validates and inserts one row, and one that updates the row while it is pending, through node-pg on the same PostgreSQL: no identity, no history, no telemetry.',
  claims: [
    {
      what: 'requests, of the plain handler',
      unit: '×',
      value: ratio('create_per_s', 'ours', 'plain'),
      better: 'more',
      required: 0.35,
      goal: 0.6,
    },
    {
      what: 'decisions, of the plain handler',
      unit: '×',
      value: ratio('decide_per_s', 'ours', 'plain'),
      better: 'more',
      required: 0.35,
      goal: 0.6,
    },
    { what: 'requests', unit: '/s', value: (round) => measured(round, 'ours', 'create_per_s'), better: 'more' },
    { what: 'decisions', unit: '/s', value: (round) => measured(round, 'ours', 'decide_per_s'), better: 'more' },
  ],
  async open(stage) {
    const product = await startProduct('store', stage);
    return {
      sides: {
        ours: await forkedSide(beside(import.meta, './closed-load'), { ...product.access, connections: CONNECTIONS }),
        plain: await plain(product.access.database, CONNECTIONS),
      },
      settle: async () => void (await product.topology.query('checkpoint')),
      close: () => product.stop(),
    };
  },
};
