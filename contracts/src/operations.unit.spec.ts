import { describe, expect, it } from '@jest/globals';
import {
  type BodyOf,
  COMMAND_ERRORS,
  ERROR_CODES,
  ERRORS,
  errorsOf,
  isErrorCode,
  OPERATIONS,
  type Operation,
  type OperationId,
  operationOf,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
  ROUTING_ERRORS,
  SCOPES,
} from './index.js';

const paramsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
const isReviewOrTemplate = (o: Operation) => /^\/api\/v1\/(reviews|templates)/.test(o.path);

describe('the table of operations', () => {
  it('gives every operation an id and a place of its own (O1)', () => {
    const ids = OPERATIONS.map((o) => o.id);
    const places = OPERATIONS.map((o) => `${o.method} ${o.path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(OPERATIONS.map((o) => [o.id, o] as const))('%s: its path, parameters, scopes and errors agree', (_id, o) => {
    expect(Object.keys((o.params as { properties?: object } | undefined)?.properties ?? {})).toEqual(paramsOf(o.path));
    expect(o.scopes.filter((scope) => !SCOPES.includes(scope))).toEqual([]);
    expect(o.errors.filter((code, at) => !isErrorCode(code) || o.errors.indexOf(code) !== at)).toEqual([]);
    expect(Object.keys(o.responses).length).toBeGreaterThan(0);
    expect(o.body === undefined || o.method !== 'GET').toBe(true);
    expect(o.bodyOptional === undefined || o.body !== undefined).toBe(true);
  });

  it('counts exactly the changes to reviews and templates against a key’s limit', () => {
    const limited = OPERATIONS.filter((o) => o.limited).map((o) => o.id);
    expect(limited).toEqual(OPERATIONS.filter((o) => o.method !== 'GET' && isReviewOrTemplate(o)).map((o) => o.id));
  });

  it('lets no key onto a path that decides (decision 7)', () => {
    const human = OPERATIONS.filter((o) => o.access === 'human').map((o) => `${o.method} ${o.path.replace('/api/v1/reviews/{id}', '')}`);
    expect(human).toEqual([
      'POST /action',
      'POST /decide',
      'POST /retry',
      'POST /cancel-request',
      'PUT /draft',
      'DELETE /draft',
      'POST /claim',
      'POST /release',
      'POST /assign',
    ]);
    for (const o of OPERATIONS.filter((o) => o.access === 'human')) expect(errorsOf(o)).toContain('human_actor_required');
  });

  it('lets only keys submit, redeem and report', () => {
    const submitting = ['createReview', 'resubmitReview', 'withdrawReview', 'redeemReview', 'recordExecution'] as const;
    expect(submitting.map((id) => operationOf(id).access)).toEqual(submitting.map(() => 'key'));
  });

  it('needs a scope of everybody it lets in by scope', () => {
    const unscoped = OPERATIONS.filter((o) => ['key', 'key_or_session', 'human'].includes(o.access) && o.scopes.length === 0);
    expect(unscoped.map((o) => o.id)).toEqual(['getKeyInfo']);
  });
});

describe('the types of an operation', () => {
  it('are those of its schemas', () => {
    const body: BodyOf<'actOnReview'> = { action_id: 'approve', version: 1 };
    const query: QueryOf<'getReview'> = { wait: 5 };
    const params: ParamsOf<'getReview'> = { id: 'rev' };
    const status: ResponseOf<'getReview'>['status'] = 'pending';
    const nothing: ResponseOf<'deleteApiKey'> = undefined;
    const none: BodyOf<'getReview'> = undefined;
    // @ts-expect-error an action needs its id
    const wrong: BodyOf<'actOnReview'> = { feedback: 'no' };
    // @ts-expect-error no such operation
    const unknown: OperationId = 'snoozeReview';
    expect([body, query, params, status, nothing, none, wrong, unknown]).toHaveLength(8);
    expect(operationOf('getReview').path).toBe('/api/v1/reviews/{id}');
  });
});

describe('the catalogue of errors', () => {
  it('holds no code that nobody answers', () => {
    const answered = new Set([...OPERATIONS.flatMap(errorsOf), ...ROUTING_ERRORS, ...COMMAND_ERRORS]);
    expect(ERROR_CODES.filter((code) => !answered.has(code))).toEqual([]);
  });

  it('keeps status and type in step', () => {
    const types: Record<number, string> = {
      401: 'authentication_error',
      403: 'forbidden',
      404: 'not_found',
      409: 'conflict',
      410: 'gone',
      413: 'payload_too_large',
      429: 'rate_limit',
      500: 'internal_error',
      503: 'service_unavailable',
    };
    const wrong = ERROR_CODES.filter((code) => ERRORS[code].type !== (types[ERRORS[code].status] ?? 'invalid_request'));
    expect(wrong).toEqual([]);
  });

  it('says each meaning in a sentence', () => {
    expect(ERROR_CODES.filter((code) => !/^[A-Z].*\.$/.test(ERRORS[code].title) && !/^[a-z_]+ .*\.$/.test(ERRORS[code].title))).toEqual([]);
  });
});
