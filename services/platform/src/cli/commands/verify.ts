import { CATEGORY_PREFIXES } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { type EventStore, PostgresEventStore } from '@countersign/event-store';
import type { Work } from '../command.js';
import type { RangeOptions } from '../options.js';
import { rangeOf } from '../range.js';

export const verifyWork =
  (options: RangeOptions): Work =>
  async ({ ownerUrl, teardown }, output) => {
    const pool = createPool({ connectionString: ownerUrl, role: APP_ROLE, max: 2, applicationName: 'countersign verify' });
    teardown.add(() => pool.end());
    const store: EventStore = new PostgresEventStore({ pool, writer: 'cli', categories: CATEGORY_PREFIXES });
    const range = await rangeOf(store, options);
    const bar = output.progress('Verifying');
    const report = await store.verify({ ...range, onProgress: (done, total) => bar.update(done, total) });
    bar.stop();
    const { valid, verifiedFrom, verifiedTo, events, redacted, firstBad } = report;
    output.answer({ valid, verified_from: verifiedFrom, verified_to: verifiedTo, events, redacted, first_bad: firstBad }, () => [
      `${events} events, positions ${verifiedFrom} to ${verifiedTo}${redacted > 0 ? `, ${redacted} of them redacted` : ''}.`,
      firstBad
        ? `✗ Position ${firstBad.position}${firstBad.stream ? ` (${firstBad.stream})` : ''}: ${firstBad.reason}`
        : '✓ All hashes match.',
    ]);
    return valid ? 0 : 1;
  };
