import { EventStoreUnavailableError } from '@countersign/event-store';
import { describe, expect, it } from '@jest/globals';
import { Retryable } from '../port.js';
import { isWorthAnotherTry, reasonOf, retryDelay } from './failure.js';

const coded = (code: string, message = 'refused') => Object.assign(new Error(message), { code });

describe('isWorthAnotherTry', () => {
  it.each([
    ['a Retryable', new Retryable('later')],
    ['a store that takes no appends', new EventStoreUnavailableError('too many wait')],
    ['a deadlock', coded('40P01')],
    ['a server that shuts down', coded('57P01')],
    ['too many connections', coded('53300')],
    ['a refused connection', coded('ECONNREFUSED')],
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['any of these as the cause', new Error('could not project', { cause: coded('08006') })],
  ])('is worth the same batch again: %s', (_, error) => expect(isWorthAnotherTry(error)).toBe(true));

  it.each([
    ['a bug', new TypeError('x is undefined')],
    ['a row that does not fit', coded('23505')],
    ['a query that is wrong', coded('42703')],
    ['a transaction whose error was swallowed', coded('25P02')],
    ['what is not an error', 'ECONNREFUSED'],
  ])('is the event to blame: %s', (_, error) => expect(isWorthAnotherTry(error)).toBe(false));
});

describe('retryDelay', () => {
  it('doubles up to half a minute, and chance takes at most half of it away', () => {
    expect([1, 2, 3, 20].map((attempt) => retryDelay(attempt, null, () => 1))).toEqual([100, 200, 400, 30_000]);
    expect([1, 2, 3, 20].map((attempt) => retryDelay(attempt, null, () => 0))).toEqual([50, 100, 200, 15_000]);
  });

  it('is never sooner than the handler asked', () => {
    expect(retryDelay(1, new Retryable('later', { retryAfterMs: 5_000 }), () => 0)).toBe(5_000);
  });
});

describe('reasonOf', () => {
  it('is one bounded line', () => {
    expect(reasonOf(new RangeError('no\n  such  field'))).toBe('RangeError: no such field');
    expect(reasonOf('x'.repeat(1_000))).toHaveLength(500);
  });
});
