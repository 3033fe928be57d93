import { DAY, within } from '@countersign/review/fixture';
import { describe, expect, it } from '@jest/globals';
import { byWhom, ruleOf } from './decider.js';
import { requested, shownAfter } from './wire-fixture.js';

const OWN = 'ann@example.org';

describe('who decided', () => {
  it.each([
    [OWN, 'by you'],
    ['bob@example.org', 'by bob@example.org'],
    ['system:timeout', 'at the deadline'],
    ['system:max_iterations', 'at the change-request limit'],
    ['system/auto-approve', 'by the template'],
    ['system:of-a-later-server', 'automatically'],
  ])('is said of %s: %s', (decidedBy, words) => {
    expect(byWhom(decidedBy, OWN)).toBe(words);
  });

  it('is never the name of a rule, as the server has it', () => {
    const { decided_by } = shownAfter(requested(within('auto_reject')), DAY);
    expect(decided_by).toMatch(/^system/);
    expect(ruleOf(decided_by as string)?.sentence).toBe('Automatic: the deadline passed');
  });
});
