import { CATEGORY_PREFIXES, type Category } from '@countersign/contracts';
import { createPool } from '@countersign/database';
import { isId, prefixOf, redactStream, uuidOf } from '@countersign/event-store';
import type { Pool } from 'pg';
import type { Work } from '../command.js';
import { Refused } from '../failure.js';
import type { EraseOptions } from '../options.js';

/**
 * Takes the content of one stream out of the log for ever (K4). The hashes stay, so the log verifies as before. What was made of the content,
 * read models and kept webhook deliveries, is forgotten by the consumers when they meet the event this appends.
 */
export const eraseWork =
  (stream: string, { reason, metadata, yes }: EraseOptions): Work =>
  async ({ ownerUrl, teardown, server }, output) => {
    if (reason.trim() === '') throw new Refused('A reason is required: it is recorded in the event log.');
    const pool = createPool({ connectionString: ownerUrl, max: 1, applicationName: 'countersign erase' });
    teardown.add(() => pool.end());
    const events = await eventsOf(pool, stream);
    if (!yes) {
      throw new Refused(`This erases the content of ${stream} (${events} events) and cannot be undone. Repeat the command with --yes.`);
    }
    const erased = await redactStream(pool, { stream, reason, metadata: metadata ?? false });
    output.answer({ stream, erased }, () =>
      erased === 0
        ? [`Nothing left to erase in ${stream}.`]
        : [
            `✓ ${erased} events of ${stream} erased. The log verifies as before.`,
            server
              ? 'Read models and kept webhook deliveries are erased by the running server within seconds.'
              : 'Read models and kept webhook deliveries are erased when the server next starts.',
          ],
    );
    return 0;
  };

/** @throws {Refused} for what is no stream of this log. */
async function eventsOf(pool: Pool, stream: string): Promise<number> {
  const prefix = prefixOf(stream);
  const category = (Object.keys(CATEGORY_PREFIXES) as Category[]).find((name) => CATEGORY_PREFIXES[name] === prefix);
  if (category === undefined || !isId(prefix, stream)) throw new Refused(`${stream} is not a stream id, such as rev_….`);
  const { rows } = await pool.query<{ version: number }>('select version from event_store.streams where stream = $1 and category = $2', [
    uuidOf(stream),
    category,
  ]);
  if (!rows[0]) throw new Refused(`No stream ${stream}.`);
  return rows[0].version;
}
