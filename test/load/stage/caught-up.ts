import { until } from '@countersign/testing';
import type { Topology } from '../../e2e/topology.js';

/** Waits until every consumer has handled the log to its end. */
export async function caughtUp(topology: Topology): Promise<void> {
  await until(
    async () =>
      (
        await topology.query<{ behind: number }>(
          'select (select position from event_store.head where shard = 0)::float8 - min(position)::float8 as behind from event_bus.cursors',
        )
      )[0]?.behind ?? 0,
    (behind) => behind <= 0,
  );
}
