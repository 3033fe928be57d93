import type { Review } from '@countersign/contracts';
import { useEffect, useRef } from 'react';
import { Badge } from '../../elements/Badge.js';
import { isFocusLost } from '../../elements/focus.js';
import { Revealed } from '../../elements/Revealed.js';
import { IrreversibilityBadge, PriorityBadge } from '../../elements/ReviewBadges.js';
import { Countdown } from '../../elements/time/Countdown.js';
import { Ago } from '../../elements/time/Moment.js';
import { usePlace } from '../../queue/place.js';
import { isOpen } from '../../review/desk.js';
import { summaryOf, templateNameOf } from '../../review/summary.js';

/** Who comes from another screen begins to read here; what they pressed is gone. */
function useFocusOnArrival() {
  const heading = useRef<HTMLHeadingElement>(null);
  const place = usePlace();
  useEffect(() => {
    if (place.current.begun && isFocusLost()) heading.current?.focus();
    place.current.begun = true;
  }, [place]);
  return heading;
}

/** What it is, who asks, and how pressing it is. */
export function ReviewHead({ review }: { review: Review }) {
  const { title } = summaryOf(review);
  const heading = useFocusOnArrival();
  return (
    <header className="review-head">
      <p className="review-kind">
        <Revealed text={templateNameOf(review)} /> ·{' '}
        <strong>
          <Revealed text={review.requested_by_name ?? 'An agent'} />
        </strong>{' '}
        asked <Ago time={review.created_at} />
      </p>
      <h1 className="review-title" ref={heading} tabIndex={-1}>
        <Revealed text={title} />
      </h1>
      <div className="review-badges">
        {review.priority === 'normal' || review.priority === 'low' ? null : <PriorityBadge priority={review.priority} />}
        <IrreversibilityBadge irreversibility={review.irreversibility} />
        {review.current_version > 1 ? <Badge>Version {review.current_version}</Badge> : null}
        {isOpen(review) && review.expires_at !== null ? (
          <span className="review-deadline">
            <Countdown deadline={review.expires_at} action={review.timeout_action} />
          </span>
        ) : null}
      </div>
    </header>
  );
}
