import { type Figure, measured, ratio } from '../figure.js';
import { appending, side, TOPOLOGY } from './append.js';

const CALLERS = 1_024;

export const APPEND_1024: Figure = {
  name: 'append-1024',
  title: 'append, 1,024 callers',
  topology: TOPOLOGY,
  beside: '`insert … select from unnest` from Node, 250 rows at once on two connections, without any check.',
  claims: [
    { what: 'of raw unnest', unit: '×', value: ratio('per_s', 'ours', 'unnest'), better: 'more', required: 0.4, goal: 0.6 },
    { what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less' },
  ],
  open: (stage) =>
    appending(stage, ['unnest'], async (place) => ({
      ours: await side(place, 'ours', CALLERS),
      unnest: await side(place, 'unnest', CALLERS),
    })),
};
