import { type Figure, measured, ratio } from '../figure.js';
import { appending, side, TOPOLOGY } from './append.js';

export const APPEND_1: Figure = {
  name: 'append-1',
  title: 'append, 1 caller',
  topology: TOPOLOGY,
  beside: 'one insert of one row through node-pg, prepared.',
  claims: [
    { what: 'of one insert', unit: '×', value: ratio('per_s', 'ours', 'single'), better: 'more', required: 0.6, goal: 0.8 },
    { what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less' },
  ],
  open: (stage) =>
    appending(stage, ['single'], async (place) => ({ ours: await side(place, 'ours', 1), single: await side(place, 'single', 1) })),
};
