/** Appends the events of a round at full speed, in a process of its own. */
import { BODY, META, TYPE } from '../append/event.js';
import type { Side } from '../figure.js';
import { fillWith } from '../stage/filled-log.js';
import { PER_S } from './messages.js';

export async function start({ database }: { database: string }): Promise<Side> {
  return {
    async round(seconds) {
      const streams = Math.ceil(PER_S * seconds);
      await fillWith({ database, streams, events: [{ type: TYPE, body: BODY }], meta: META });
      return { event_count: streams };
    },
    async close() {},
  };
}
