import { describe, expect, it } from '@jest/globals';
import { mayPass, Refused, sentenceOf, sessionEnded, Unreachable } from './failure.js';

const refused = (status: number, code: ConstructorParameters<typeof Refused>[1]['code'], message = 'No', after: number | null = null) =>
  new Refused(status, { code, message }, after);

describe('a failure', () => {
  it('ends the session only where the session is what is missing', () => {
    expect(sessionEnded(refused(401, 'invalid_token'))).toBe(true);
    expect(sessionEnded(refused(401, 'invalid_credentials'))).toBe(false);
    expect(sessionEnded(refused(403, 'forbidden'))).toBe(false);
    expect(sessionEnded(new Unreachable())).toBe(false);
  });
  it('is worth another try where the server did not judge', () => {
    expect([new Unreachable(), refused(503, 'service_unavailable'), refused(429, 'rate_limit_exceeded')].map(mayPass)).toEqual([
      true,
      true,
      true,
    ]);
    expect(mayPass(refused(409, 'review_already_decided'))).toBe(false);
  });
  it.each([
    [refused(400, 'payload_invalid', 'Amount must be a number'), 'Amount must be a number.'],
    [refused(429, 'too_many_attempts', 'Too many attempts.', 90), 'Too many attempts. Try again in 2 minutes.'],
    [refused(429, 'too_many_attempts', 'Too many attempts.', 1), 'Too many attempts. Try again in 1 second.'],
    [refused(500, 'internal_error', 'detail'), 'Server error. Try again in a moment.'],
    [new Unreachable(), 'The server cannot be reached. Check your connection and try again.'],
    [new TypeError('x is undefined'), 'Something went wrong. Reload the page; your input is kept.'],
  ])('is told in a sentence: %s', (error, sentence) => {
    expect(sentenceOf(error)).toBe(sentence);
  });
});
