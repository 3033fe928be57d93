import type { Exchange, FailureCode } from '@countersign/egress';
import { describe, expect, it } from '@jest/globals';
import { judge, type RetryPolicy } from './verdict.js';

const POLICY: RetryPolicy = { backoff: [5_000, 30_000, 120_000], jitterPercent: 10, retryAfterMax: 3_600_000 };

describe('judge', () => {
  it.each([200, 201, 202, 204, 299])('takes %i as delivered, whatever became of the body', (status) => {
    const cut = answer(status, { failure: { stage: 'after', code: 'body_timeout', message: 'slow' } });
    expect(judge(cut, 3, POLICY, 0)).toEqual({ next: 'delivered', health: 'alive', error: null });
  });

  it.each([300, 301, 302, 303, 304, 307, 308, 400, 401, 404, 422])('tries %i again and holds nothing against the endpoint', (status) => {
    expect(judge(answer(status), 1, POLICY, 0)).toMatchObject({ next: 'retry', delayMs: 5_000, counts: true, health: 'alive' });
  });

  it.each([429, 500, 502, 503, 504])('tries %i again and counts it against the endpoint', (status) => {
    expect(judge(answer(status), 1, POLICY, 0)).toMatchObject({ next: 'retry', health: 'failing', error: `HTTP ${status}` });
  });

  it.each<FailureCode>(['timeout', 'connect_failed', 'connection_lost', 'unresolvable', 'address_refused', 'bad_response'])(
    'tries %s again and counts it against the endpoint',
    (code) => {
      expect(judge(noAnswer(code), 2, POLICY, 0)).toMatchObject({ next: 'retry', delayMs: 30_000, health: 'failing', error: `${code}!` });
    },
  );

  it('ends a delivery the receiver calls gone', () => {
    expect(judge(answer(410), 1, POLICY, 0)).toMatchObject({ next: 'dead_lettered', reason: 'gone', health: 'alive' });
  });

  it('walks the delays and makes a dead letter of the attempt after the last', () => {
    const delays = [1, 2, 3, 4].map((place) => {
      const verdict = judge(answer(500), place, POLICY, 0);
      return verdict.next === 'retry' ? verdict.delayMs : verdict;
    });
    expect(delays).toEqual([5_000, 30_000, 120_000, expect.objectContaining({ next: 'dead_lettered', reason: 'attempts_exhausted' })]);
  });

  it('adds chance to a delay and never takes any away', () => {
    expect(judge(answer(500), 1, POLICY, 0.999)).toMatchObject({ delayMs: 5_500 });
    expect(judge(answer(500), 1, { ...POLICY, jitterPercent: 0 }, 0.999)).toMatchObject({ delayMs: 5_000 });
  });

  it('waits as long as the receiver asks, within a bound, and no less than the table says', () => {
    const asked = (seconds: number) => judge(answer(429, { retryAfterSeconds: seconds }), 1, POLICY, 0);
    expect(asked(60)).toMatchObject({ delayMs: 60_000 });
    expect(asked(1)).toMatchObject({ delayMs: 5_000 });
    expect(asked(1e12)).toMatchObject({ delayMs: 3_600_000 });
  });

  it('does not count an attempt this process broke off', () => {
    expect(judge(noAnswer('aborted'), 4, POLICY, 0)).toMatchObject({ next: 'retry', delayMs: 0, counts: false, health: 'unknown' });
  });

  it('keeps the first words of the answer for the log', () => {
    expect(judge(answer(500, { excerpt: 'out of disk' }), 1, POLICY, 0)).toMatchObject({ error: 'HTTP 500: out of disk' });
  });
});

function answer(status: number, more: Partial<Exchange> = {}): Exchange {
  return { status, retryAfterSeconds: null, excerpt: '', failure: null, latencyMs: 1, ...more };
}

function noAnswer(code: FailureCode): Exchange {
  return { status: null, retryAfterSeconds: null, excerpt: '', failure: { stage: 'attempt', code, message: `${code}!` }, latencyMs: 1 };
}
