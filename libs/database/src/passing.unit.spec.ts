import { describe, expect, it } from '@jest/globals';
import { isConflict, isPassing, Retryable, retryAfterOf } from './passing.js';

const coded = (code: string, cause?: unknown) => Object.assign(new Error(`with ${code}`, { cause }), { code });
class Busy extends Retryable {
  override readonly name = 'Busy';
}

describe('what passes', () => {
  it.each<[string, unknown]>([
    ['Retryable', new Retryable('later')],
    ['a class of it', new Busy('later')],
    ['a server that shuts down', coded('57P01')],
    ['a server without room', coded('53300')],
    ['a read-only server', coded('25006')],
    ['a deadlock', coded('40P01')],
    ['a cancelled query', coded('57014')],
    ['a refused connection', coded('ECONNREFUSED')],
    ['a service that does not answer in time', coded('UND_ERR_HEADERS_TIMEOUT')],
    ['a connection that cannot be made in time', new Error('timeout expired')],
    ['a connection that breaks', new Error('Connection terminated unexpectedly')],
    ['what one of them caused', new Error('outer', { cause: new Error('inner', { cause: coded('08006') }) })],
    ['what Retryable caused', new Error('outer', { cause: new Busy('later') })],
  ])('%s', (_, error) => expect(isPassing(error)).toBe(true));

  it.each<[string, unknown]>([
    ['a fault of ours', new TypeError('x is undefined')],
    ['a statement that is wrong', coded('42601')],
    ['a row that is there already', coded('23505')],
    ['a call of undici that is wrong', coded('UND_ERR_INVALID_ARG')],
    ['something that only has the name', Object.assign(new Error('later'), { name: 'Retryable' })],
    ['a cycle of causes', cycle()],
    ['no error', 'Connection terminated'],
    ['nothing', undefined],
  ])('not: %s', (_, error) => expect(isPassing(error)).toBe(false));

  it('says how long to wait where it knows, whoever wrapped it', () => {
    expect(retryAfterOf(new Error('outer', { cause: new Busy('later', { retryAfterMs: 5_000 }) }))).toBe(5_000);
    expect(retryAfterOf(new Busy('later', { cause: new Retryable('later', { retryAfterMs: 300 }) }))).toBe(300);
    expect(retryAfterOf(coded('57P01'))).toBeUndefined();
  });

  it('is a conflict where PostgreSQL undid the transaction for another', () => {
    expect(['40001', '40P01', '57014', '08006'].filter((code) => isConflict(coded(code)))).toEqual(['40001', '40P01']);
    expect(isConflict(new Retryable('later'))).toBe(false);
  });
});

function cycle(): Error {
  const one = new Error('one');
  one.cause = new Error('two', { cause: one });
  return one;
}
