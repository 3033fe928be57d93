import { describe, expect, it } from '@jest/globals';
import { EVENTS, InvalidEventError, validateEvent } from './registry.js';
import { REVIEW_EVENTS } from './review.js';
import { TEMPLATE_EVENTS } from './template.js';

const reminded = { after_seconds: 750, remaining_seconds: 250 };

describe('the registry of events', () => {
  it('has every event of reviews and templates, under the type and version its schema is named by', () => {
    for (const [type, versions] of Object.entries({ ...REVIEW_EVENTS, ...TEMPLATE_EVENTS })) {
      for (const [version, schema] of Object.entries(versions)) {
        expect(EVENTS.get(type)?.get(Number(version))).toBe(schema);
        expect(schema).toMatchObject({ $id: `${type}.v${version}` });
      }
    }
  });

  it('passes a body that keeps to its contract', () => {
    expect(() => validateEvent('review.reminded', 1, reminded)).not.toThrow();
  });

  it.each([
    ['an unknown type', 'review.forgotten', 1, reminded, 'review.forgotten v1 does not keep to its contract: body has no schema'],
    ['an unknown version', 'review.reminded', 2, reminded, 'review.reminded v2'],
    ['a missing member', 'review.reminded', 1, { after_seconds: 750 }, 'remaining_seconds is required'],
    ['a member no schema names', 'review.reminded', 1, { ...reminded, at: 'now' }, 'at is not a known field'],
    ['no object', 'review.reminded', 1, null, 'body must be object'],
  ])('refuses %s', (_what, type, version, body, message) => {
    expect(() => validateEvent(type, version, body)).toThrow(message);
    expect(() => validateEvent(type, version, body)).toThrow(InvalidEventError);
  });

  it('refuses a member no schema names at any depth', () => {
    const by = { kind: 'agent', key_id: 'key_00000000000000000000000001', key_prefix: 'gwk_0', secret: 'x' };
    expect(() => validateEvent('review.withdrawn', 1, { reason: null, by })).toThrow('by.secret is not a known field');
  });
});
