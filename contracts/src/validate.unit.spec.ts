import { describe, expect, it } from '@jest/globals';
import {
  ApiKeyCreate,
  AuditQuery,
  AuditVerification,
  FeedbackQuery,
  queryValidator,
  ReviewClaimQuery,
  ReviewCreate,
  ReviewGetQuery,
  ReviewListQuery,
  TemplateCreate,
  type Validated,
  validator,
} from './index.js';

const issuesOf = (result: Validated<unknown>) => (result.ok ? [] : result.issues.map(({ path, code }) => `${path}: ${code}`));

describe('a validator', () => {
  it('drops unknown keys at any depth and leaves the caller’s own objects alone (V1)', () => {
    const body = {
      template: 'email',
      payload: { any: { thing: 1 } },
      metadata: { of: 'mine' },
      timeout: { seconds: 60, action: 'expire', grace: 1 },
      project: 'x',
    };
    expect(validator(ReviewCreate)(body)).toEqual({
      ok: true,
      value: { template: 'email', payload: { any: { thing: 1 } }, metadata: { of: 'mine' }, timeout: { seconds: 60, action: 'expire' } },
    });
  });

  it('drops unknown keys inside either form of an action', () => {
    const result = validator(TemplateCreate)({
      slug: 'email',
      name: 'E-mail',
      fields: [],
      actions: ['approve', { type: 'reject', label: 'No', value: 'rejected', colour: 'red' }],
    });
    expect(result).toMatchObject({ ok: true, value: { actions: ['approve', { type: 'reject', label: 'No', value: 'rejected' }] } });
    expect(result.ok && result.value.actions?.[1]).not.toHaveProperty('colour');
  });

  it('refuses unknown keys where they must be exact (V2) and keeps them where it reads (V3)', () => {
    const body = () => ({ template: 'email', payload: {}, timeout: { seconds: 60, action: 'expire', grace: 1 } });
    expect(issuesOf(validator(ReviewCreate, 'exact')(body()))).toEqual(['timeout.grace: unrecognized_keys']);
    expect(validator(ReviewCreate, 'open')(body())).toEqual({ ok: true, value: body() });
  });

  it('looks into an object that may be null', () => {
    const value = { object: 'audit_verification', valid: false, verified_from: 1, verified_to: 2, events: 2, redacted: 0 };
    const first_bad = { position: 2, stream: null, reason: 'hash_mismatch', secret: 'x' };
    expect(issuesOf(validator(AuditVerification, 'exact')({ ...value, first_bad }))).toEqual(['first_bad.secret: unrecognized_keys']);
    expect(validator(AuditVerification, 'exact')({ ...value, first_bad: null })).toMatchObject({ ok: true });
  });

  it('tells a feature to come from a wrong value, and then tells nothing else (V4)', () => {
    const later = validator(ReviewCreate)({ oversight: 'monitoring', assignment_ladder: [1] });
    expect(later).toMatchObject({ ok: false, code: 'feature_not_available' });
    expect(issuesOf(later).sort()).toEqual(['assignment_ladder: not_available', 'oversight: not_available']);
    const wrong = validator(ReviewCreate)({ template: 'email', payload: {}, oversight: 'none' });
    expect(wrong).toMatchObject({ ok: false, code: 'validation_failed' });
    expect(validator(ReviewCreate)({ template: 'email', payload: {}, assignment_ladder: null, notes: null })).toMatchObject({ ok: true });
  });

  it('lists every fault of a small value, one for each place and kind', () => {
    expect(issuesOf(validator(ReviewCreate)({ payload: [], priority: 'urgent', confidence: 2 })).sort()).toEqual([
      'confidence: too_big',
      'payload: invalid_type',
      'priority: invalid_value',
      'template: required',
    ]);
  });

  it('names the place of a fault in lists and under keys with dots and slashes', () => {
    const fields = [
      { name: 'a', type: 'text', label: 'A' },
      { name: 'b', type: 'html', label: 'B' },
    ];
    expect(issuesOf(validator(TemplateCreate)({ slug: 'a', name: 'A', fields }))).toEqual(['fields.1.type: invalid_value']);
  });

  it('tells at most 20 faults', () => {
    const fields = Array.from({ length: 60 }, () => ({ name: 'A', type: 'html', label: '' }));
    expect(issuesOf(validator(TemplateCreate)({ slug: 'a', name: 'A', fields }))).toHaveLength(20);
  });

  it('stops at the first fault of a large value (V6)', () => {
    const scopes = Array.from({ length: 120_000 }, (_, i) => `scope-${i}`);
    expect(issuesOf(validator(ApiKeyCreate)({ name: '', scopes }))).toHaveLength(1);
  });

  it.each([null, undefined, 1, 'text', true, []])('refuses %p where an object belongs', (value) => {
    expect(issuesOf(validator(ReviewCreate)(value))).toEqual([': invalid_type']);
  });
});

describe('a query validator', () => {
  it('reads numbers and booleans from their text, and one value as a list', () => {
    expect(queryValidator(ReviewListQuery)({ limit: '20', offset: '0', nonsense: 'x' })).toEqual({
      ok: true,
      value: { limit: 20, offset: 0 },
    });
    expect(queryValidator(ReviewClaimQuery)({ force: 'true' })).toEqual({ ok: true, value: { force: true } });
    expect(queryValidator(AuditQuery)({ action: 'review.decided' })).toEqual({ ok: true, value: { action: ['review.decided'] } });
    expect(queryValidator(AuditQuery)({ action: ['a', 'b'] })).toEqual({ ok: true, value: { action: ['a', 'b'] } });
  });

  it.each(['', '0x10', '1e2', '1.5', ' 1', '+1', '٣', '99999999999999999999'])('does not take %p for a number', (limit) => {
    expect(issuesOf(queryValidator(ReviewListQuery)({ limit }))).toHaveLength(1);
  });

  it('refuses what is out of bounds, and a parameter given twice', () => {
    expect(issuesOf(queryValidator(ReviewListQuery)({ limit: '101' }))).toEqual(['limit: too_big']);
    expect(issuesOf(queryValidator(ReviewGetQuery)({ wait: ['1', '2'] }))).toEqual(['wait: invalid_type']);
  });

  it.each([
    [{ limit: '1000', offset: '-3' }, { limit: 100 }],
    [{ limit: '0', offset: '9999999999' }, { offset: 1_000_000 }],
    [{ limit: 'ten', offset: ['1', '2'] }, {}],
    [
      { limit: '10', offset: '0' },
      { limit: 10, offset: 0 },
    ],
  ])('reads %j leniently where HRP does', (query, value) => {
    expect(queryValidator(FeedbackQuery)(query)).toEqual({ ok: true, value });
  });

  it('does not reach an object’s prototype', () => {
    const query = JSON.parse('{"__proto__": {"limit": "1"}, "constructor": "x"}') as unknown;
    expect(queryValidator(ReviewListQuery)(query)).toEqual({ ok: true, value: {} });
    expect(({} as { limit?: unknown }).limit).toBeUndefined();
  });
});

describe('a name that only answers have (V7)', () => {
  const body = (more: object) => ({ template: 'email', payload: {}, ...more });

  it('is refused with the name a request uses', () => {
    const result = validator(ReviewCreate)(body({ timeout_seconds: 600, timeout_action: 'expire', expires_at: 'x' }));
    expect(result).toMatchObject({ ok: false, code: 'validation_failed' });
    expect(issuesOf(result)).toEqual([
      'timeout_seconds: unrecognized_keys',
      'timeout_action: unrecognized_keys',
      'expires_at: unrecognized_keys',
    ]);
    expect(!result.ok && result.issues[0].message).toBe('is a response-only name; use timeout.seconds');
  });

  it('may be null, as it is in an answer without one', () => {
    expect(validator(ReviewCreate)(body({ timeout_seconds: null, timeout_action: null, expires_at: null })).ok).toBe(true);
  });
});
