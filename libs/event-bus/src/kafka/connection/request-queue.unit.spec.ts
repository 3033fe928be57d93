import { createRequire } from 'node:module';
import { describe, expect, it, jest } from '@jest/globals';
import './request-queue.js';

type Queue = { push(request: object): void; fulfillRequest(answer: object): void; throttleCheckTimeoutId: unknown; destroy(): void };
const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (options: object) => Queue;

const silent = { debug() {}, warn() {} };
const open = () => new RequestQueue({ maxInFlightRequests: 1, requestTimeout: 1_000, logger: silent, clientId: 'spec', broker: 'spec' });
const request = (correlationId: number, sendRequest: () => void) => ({
  entry: { correlationId, resolve() {}, reject() {} },
  expectResponse: true,
  sendRequest,
});

describe('kafkajs’ queue of requests', () => {
  it('plans nothing when nothing waits', () => {
    const queue = open();
    queue.push(request(1, () => {}));
    queue.fulfillRequest({ correlationId: 1, payload: {}, size: 1 });
    expect(queue.throttleCheckTimeoutId).toBeNull();
  });

  it('still sends what waits when there is room', () => {
    const queue = open();
    const sent = jest.fn();
    queue.push(request(1, () => {}));
    queue.push(request(2, sent));
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
    expect(sent).not.toHaveBeenCalled();
    queue.fulfillRequest({ correlationId: 1, payload: {}, size: 1 });
    expect(sent).toHaveBeenCalledTimes(1);
    queue.destroy();
  });
});
