import type { ReviewEvent, ReviewVersion } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';

/** A version is known by the event that brought it. */
const versionId = (eventId: string): string => eventId.replace(/^evt_/, 'ver_');

/**
 * Every payload the agent sent, newest first, with the feedback that asked for it (HRP §2.6). Folds the review's own stream;
 * erased events leave no version.
 */
export function versionsOf(events: readonly StoredEvent<ReviewEvent>[]): ReviewVersion[] {
  const versions: ReviewVersion[] = [];
  let feedback: string | null = null;
  for (const event of events) {
    if (event.body === null) continue;
    if (event.type === 'review.changes_requested') feedback = event.body.feedback;
    if (event.type !== 'review.requested' && event.type !== 'review.resubmitted') continue;
    const { payload, payload_digest } = event.body;
    versions.unshift({
      object: 'version',
      id: versionId(event.id),
      review_id: event.stream,
      version: event.type === 'review.requested' ? 1 : event.body.version,
      payload,
      payload_digest,
      feedback,
      created_at: event.time,
    });
    feedback = null;
  }
  return versions;
}
