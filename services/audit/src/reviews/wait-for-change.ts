/**
 * `GET /reviews/:id?wait=N` (decision 13): answers when the status or the version differs from what `If-None-Match` names, at once when the
 * review is settled (R6), and with the state as it is when the time is over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Review } from '@countersign/contracts';
import { type CallerIdentity, etagOf } from '@countersign/http';
import type { AuditContext } from '../deps.js';
import { showReview } from './show-review.js';

const SETTLED = new Set<Review['status']>(['decided', 'expired', 'archived']);

export async function waitForChange(
  context: AuditContext,
  caller: CallerIdentity,
  id: string,
  wait: { seconds: number; ifNoneMatch: string | undefined; signal: AbortSignal },
): Promise<Review> {
  let changed = Promise.withResolvers<void>();
  const unwatch = context.changes.watch(id, () => changed.resolve());
  try {
    const first = await showReview(context, caller, id);
    const { status, current_version } = first.review;
    // Without a tag the caller knows nothing yet and waits for the next change; with another tag it has missed one.
    const stale = wait.ifNoneMatch !== undefined && wait.ifNoneMatch !== etagOf(JSON.stringify(first.review));
    if (SETTLED.has(status) || stale) return first.review;
    const end = performance.now() + wait.seconds * 1000;
    for (let shown = first; ; shown = await showReview(context, caller, id)) {
      if (shown.review.status !== status || shown.review.current_version !== current_version) return shown.review;
      const left = end - performance.now();
      if (left <= 0 || wait.signal.aborted) return shown.review;
      // What the clock settles is seen at its deadline, whether or not anybody has written it.
      const lapse = shown.changes_at === null ? left : Math.max(1, Date.parse(shown.changes_at) - Date.parse(shown.now));
      const over = new AbortController();
      const slept = sleep(Math.min(left, lapse), undefined, { signal: AbortSignal.any([over.signal, wait.signal]) }).catch(() => {});
      await Promise.race([changed.promise, slept]);
      over.abort();
      changed = Promise.withResolvers<void>();
    }
  } finally {
    unwatch();
  }
}
