import type { FieldType, Review } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { summaryOf, undeclaredKeys } from './summary.js';
import { requested, shownAfter } from './wire-fixture.js';

const of = (fields: [name: string, type: FieldType][], payload: Record<string, unknown>, more: Partial<Review> = {}): Review => ({
  ...shownAfter(requested()),
  template_fields: fields.map(([name, type]) => ({ name, type, label: name.toUpperCase(), editable: false, required: false })),
  payload,
  ...more,
});

describe('a review in one line', () => {
  it('is what its subject says, wherever that stands', () => {
    const review = of(
      [
        ['to', 'text'],
        ['subject', 'text'],
        ['body', 'markdown'],
      ],
      { to: 'ann@example.org', subject: 'Hello', body: '# Dear\n\nall' },
    );
    expect(summaryOf(review)).toEqual({ title: 'Hello', detail: 'TO: ann@example.org · BODY: Dear all' });
  });
  it('is its first text where nothing is called a title, then its first value, then its template', () => {
    expect(
      summaryOf(
        of(
          [
            ['amount', 'number'],
            ['customer', 'text'],
          ],
          { amount: 3, customer: 'Ann' },
        ),
      ).title,
    ).toBe('Ann');
    expect(summaryOf(of([['amount', 'number']], { amount: 3 })).title).toBe('3');
    expect(summaryOf(of([['photo', 'image']], { photo: 'https://example.org/a.png' })).title).toBe('Mail');
  });
  it('is short, and of one line', () => {
    const { title } = summaryOf(of([['subject', 'text']], { subject: `a\n${'b'.repeat(400)}` }));
    expect(title).toMatch(/^a b+…$/);
    expect(title).toHaveLength(140);
  });
  it('is of what was approved, once something was', () => {
    expect(summaryOf(of([['subject', 'text']], { subject: 'Sent' }, { approved_value: { subject: 'Approved' } })).title).toBe('Approved');
  });
});

describe('undeclared keys', () => {
  it('are those no field of the template has', () => {
    expect(undeclaredKeys(shownAfter(requested()))).toEqual(['tracking']);
  });
});
