import { ErrorBody, errorsOf, OPERATIONS, type Operation, ROUTING_ERRORS, validator } from '@countersign/contracts';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { anAgent, aPerson, type Edge, startEdge } from './fixture/edge.js';

// For what hangs: on a busy machine six hundred requests take their time.
jest.setTimeout(600_000);

const KEY = `gwk_${'a'.repeat(64)}`;
const WITH_BODY = OPERATIONS.filter(({ method, id }) => method !== 'GET' && id !== 'createStreamTicket');

/** Bytes near JSON, near UTF-8, near nothing. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((b) => Buffer.from(b)),
  fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text)),
  fc
    .array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"a":',
        '"\\u0061":',
        '"__proto__":',
        '1e400',
        '9007199254740993',
        '"\\ud800"',
        '"\\u0000"',
        ',',
        ':',
        ' ',
        'null',
        '\u0000',
      ),
      { maxLength: 30 },
    )
    .map((parts) => Buffer.from(parts.join(''))),
  fc.integer({ min: 60, max: 20_000 }).map((depth) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`)),
  fc.integer({ min: 1, max: 60_000 }).map((length) => Buffer.from(`[${'0,'.repeat(length)}0]`)),
);
const types = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  ';',
  '',
);
const segments = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed()));

describe('whatever is sent, at every route', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge();
    edge.credentials.set(KEY, anAgent()).set('session', aPerson({ project_id: 'prj_a', roles: { prj_a: 'admin' } }));
  });
  afterAll(() => edge.close());

  it('is answered with success or a refusal of the catalogue in JSON, and never with a fault', async () => {
    const validate = validator(ErrorBody, 'exact');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...WITH_BODY), segments, bytes, types, async (operation: Operation, segment, body, type) => {
        edge.asked.length = 0;
        const response = await edge.fetch(operation.path.replaceAll(/\{\w+\}/g, segment), {
          method: operation.method,
          key: operation.access === 'key' || operation.access === 'key_or_session' ? KEY : 'session',
          body,
          headers: type === '' ? {} : { 'content-type': type },
        });
        expect(response.status).toBeLessThan(500);
        if (response.status < 400) {
          expect(edge.asked).toHaveLength(1);
          await response.arrayBuffer();
          return;
        }
        expect(edge.asked).toEqual([]);
        const answer = (await response.json()) as ErrorBody;
        expect(validate(answer)).toMatchObject({ ok: true });
        expect([...errorsOf(operation), ...ROUTING_ERRORS]).toContain(answer.error.code);
      }),
      { numRuns: 600 },
    );
    expect(edge.lines).toEqual([]);
  });
});
