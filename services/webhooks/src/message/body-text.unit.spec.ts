import { ReviewDecidedWebhook, validator } from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import { chief, REVIEW, START } from '@countersign/review/fixture';
import { describe, expect, it } from '@jest/globals';
import { bodyText, LARGEST_BODY } from './body-text.js';

const URL = 'https://gate.example';
const valid = validator(ReviewDecidedWebhook, 'exact');

function decided(value: string, more: Partial<ReviewDecidedWebhook> = {}) {
  const body: ReviewDecidedWebhook = {
    type: 'review.decided',
    review_id: REVIEW,
    decision: 'approved',
    decided_at: START,
    was_edited: false,
    suggested_value: { value },
    reviewer: chief.email,
    iteration_count: 0,
    payload_digest: digest({ value }),
    approved_digest: digest({ value }),
    ...more,
  };
  return { event_type: 'review.decided', body };
}

describe('the text of a body', () => {
  const room = LARGEST_BODY - JSON.stringify(decided('').body).length;

  it('is the body, up to 1 MB of bytes', () => {
    for (const value of ['', 'x'.repeat(room), 'é'.repeat(room / 2)]) {
      expect(bodyText(decided(value), URL)).toBe(JSON.stringify(decided(value).body));
    }
  });

  it('says where the values are above that', () => {
    const { suggested_value: _, ...rest } = decided('').body;
    for (const value of ['x'.repeat(room + 1), 'é'.repeat(room / 2 + 1)]) {
      const told = decided(value, { approved_value: {}, edited_payload: {}, was_edited: true });
      const body = JSON.parse(bodyText(told, URL)) as Record<string, unknown>;
      expect(body).toEqual({
        ...rest,
        was_edited: true,
        payload_digest: digest({ value }),
        approved_digest: digest({ value }),
        edited_payload: null,
        truncated: true,
        review_url: `${URL}/reviews/${REVIEW}`,
        message: expect.stringContaining(`GET /api/v1/reviews/${REVIEW}`),
      });
      expect(valid(body).ok).toBe(true);
    }
  });
});
