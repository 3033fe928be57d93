import type { Review } from '@countersign/contracts';
import { Ago } from '../../elements/Moment.js';
import { Revealed } from '../../elements/Revealed.js';

/** What the agent was asked for, while it works on it. */
export function Awaited({ review }: { review: Review }) {
  const by = review.last_action_by?.replace(/^reviewer:/, '');
  return (
    <div className="awaited">
      <p className="muted">
        {by ? `${by} requested changes` : 'Changes were requested'} {review.last_action_at ? <Ago time={review.last_action_at} /> : null}.
        This page tells you when the next version is there.
      </p>
      {review.feedback ? (
        <blockquote className="quote">
          <Revealed text={review.feedback} />
        </blockquote>
      ) : null}
    </div>
  );
}
