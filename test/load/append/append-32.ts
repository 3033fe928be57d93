import { type Figure, measured, ratio } from '../figure.js';
import { appending, side, TOPOLOGY } from './append.js';
import { pgbench } from './pgbench.js';

const CALLERS = 32;

export const APPEND_32: Figure = {
  name: 'append-32',
  title: 'append, 32 callers',
  topology: TOPOLOGY,
  beside:
    'pgbench, 32 clients, one row in a transaction, prepared; TypeORM `save`, and BEGIN + 2 statements + COMMIT, 32 callers on 16 connections each. Rows of the same size and with two indexes.',
  claims: [
    { what: 'of pgbench', unit: '×', value: ratio('per_s', 'ours', 'pgbench'), better: 'more', required: 1, goal: 2 },
    { what: 'p99', unit: 'ms', value: (round) => measured(round, 'ours', 'p99_ms'), better: 'less', required: 10 },
    { what: 'of TypeORM save', unit: '×', value: ratio('per_s', 'ours', 'typeorm'), better: 'more' },
    { what: 'of BEGIN + 2 + COMMIT', unit: '×', value: ratio('per_s', 'ours', 'transaction'), better: 'more' },
  ],
  open: (stage) =>
    appending(stage, ['pgbench', 'typeorm', 'transaction'], async (place) => ({
      ours: await side(place, 'ours', CALLERS),
      pgbench: pgbench(place.database.url, 'pgbench', CALLERS, place.folder),
      typeorm: await side(place, 'typeorm', CALLERS),
      transaction: await side(place, 'transaction', CALLERS),
    })),
};
