import { APPEND_1 } from './append/append-1.js';
import { APPEND_32 } from './append/append-32.js';
import { APPEND_1024 } from './append/append-1024.js';
import { BUS_KAFKA } from './bus/bus-kafka.js';
import { BUS_STORE } from './bus/bus-store.js';
import type { Figure } from './figure.js';
import { DEADLINES } from './flow/deadlines.js';
import { VISIBLE_KAFKA, VISIBLE_STORE } from './flow/visible.js';
import { WEBHOOKS_KAFKA, WEBHOOKS_STORE } from './flow/webhooks-100.js';
import { HTTP_64 } from './http/http-64.js';
import { HTTP_200_KAFKA, HTTP_200_STORE } from './http/http-200.js';
import { DEAD_ENDPOINT } from './limits/dead-endpoint.js';
import { FLOOD } from './limits/flood.js';
import { OVERLOAD } from './limits/overload.js';
import { LISTS } from './lists/lists.js';
import { LOG } from './log/log.js';
import { IDLE } from './start/idle.js';
import { SECOND_START } from './start/second-start.js';

/** Every figure, in the order of docs/performance.md. */
export const FIGURES: readonly Figure[] = [
  ...[APPEND_32, APPEND_1024, APPEND_1],
  ...[HTTP_64, HTTP_200_STORE, HTTP_200_KAFKA],
  ...[WEBHOOKS_STORE, WEBHOOKS_KAFKA, VISIBLE_STORE, VISIBLE_KAFKA, DEADLINES],
  ...[LOG, LISTS],
  ...[DEAD_ENDPOINT, FLOOD, BUS_STORE, BUS_KAFKA],
  ...[IDLE, SECOND_START, OVERLOAD],
];
