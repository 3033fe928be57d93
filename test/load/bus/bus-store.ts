import { BODY, META, TYPE } from '../append/event.js';
import { type Figure, ratio } from '../figure.js';
import { startDatabase } from '../stage/database.js';
import { fillWith } from '../stage/filled-log.js';
import { beside, forkedSide } from '../stage/forked.js';
import { PER_S } from './messages.js';

export const BUS_STORE: Figure = {
  name: 'bus-store',
  title: 'bus, batches (store)',
  topology:
    'The store adapter in one Node process on the PostgreSQL of `npm start`: a new group from the beginning of the log to its end, batches of 500, a handler that does nothing in the transaction that moves the cursor.',
  beside: 'a loop of `SELECT … LIMIT 500` over the same events in one Node process, their JSON read.',
  claims: [{ what: 'of bare SELECT', unit: '×', value: ratio('per_s', 'ours', 'select'), better: 'more', required: 0.6, goal: 0.8 }],
  async open(stage) {
    const database = await startDatabase(stage.folder);
    stage.say('filling the log');
    await fillWith({ database: database.url, streams: Math.ceil(PER_S * stage.seconds), events: [{ type: TYPE, body: BODY }], meta: META });
    await database.query('vacuum analyze');
    return {
      sides: {
        ours: await forkedSide(beside(import.meta, './store-bus'), { database: database.url }),
        select: await forkedSide(beside(import.meta, './bare-select'), { database: database.url }),
      },
      close: () => database.close(),
    };
  },
};
