/**
 * A cure for kafkajs 2.2.4. After every answer its request queue plans to look again for requests that wait, also when none does: the
 * delay is then a negative number, which Node 24 warns of, and from the first answer on every connection looks a thousand times a second
 * (github.com/tulios/kafkajs/issues/1751 and 1704). A request that has to wait plans the look itself.
 */
import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
const schedule = prototype.scheduleCheckPendingRequests;

prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) schedule.call(this);
};
