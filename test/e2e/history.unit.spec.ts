import { describe, expect, it } from '@jest/globals';
import { differences, type Recorded } from './history.js';

const arrival = (id: string, type: string, review = 'a', text = id) => ({
  headers: { 'x-webhook-id': id, 'x-webhook-event': type },
  body: Buffer.from(text),
  json: { review_id: review },
});
const recorded: Recorded[] = [
  { review: 'a', type: 'review.requested', body: {} },
  { review: 'a', type: 'review.changes_requested', body: { action: { id: 'request_changes' } } },
  { review: 'a', type: 'review.decided', body: { decided_by: { kind: 'person' } } },
];
const [retried, taken, decided] = [
  arrival('1', 'review.retried'),
  arrival('2', 'review.action_taken'),
  arrival('3', 'review.decided'),
] as const;
const owed = 'a is owed review.retried, review.action_taken, review.decided; there came';

describe('what was recorded against what arrived', () => {
  it('agrees where each came once, or again as it was', () => {
    expect(differences(recorded, [retried, taken, retried, decided, decided])).toEqual([]);
  });

  it.each([
    ['lost', [retried, decided], [`${owed} review.retried, review.decided`]],
    ['all lost', [], [`${owed} nothing`]],
    ['reordered', [taken, retried, decided], [`${owed} review.action_taken, review.retried, review.decided`]],
    [
      'doubled under another id',
      [retried, taken, decided, arrival('4', 'review.decided')],
      [`${owed} review.retried, review.action_taken, review.decided, review.decided`],
    ],
    ['changed', [retried, taken, decided, arrival('3', 'review.decided', 'a', 'other')], ['3 of a came again with other bytes']],
    [
      'of a review nobody asked about',
      [retried, taken, decided, arrival('5', 'review.expired', 'b')],
      ['b is owed nothing; there came review.expired'],
    ],
  ])('tells what was %s', (_, arrivals, sentences) => {
    expect(differences(recorded, arrivals)).toEqual(sentences);
  });
});
