import type { Review } from '@countersign/contracts';
import { Link } from 'wouter';
import { Badge } from '../../elements/Badge.js';
import { Revealed } from '../../elements/Revealed.js';
import { IrreversibilityBadge, OutcomeBadge, PriorityBadge, PriorityMark } from '../../elements/ReviewBadges.js';
import { Countdown } from '../../elements/time/Countdown.js';
import { Ago } from '../../elements/time/Moment.js';
import { byWhom } from '../../review/decider.js';
import { isOpen } from '../../review/desk.js';
import { holderOf } from '../../review/holder.js';
import { summaryOf, templateNameOf } from '../../review/summary.js';
import { useSession } from '../../session/session-context.js';

/** One review in a list: enough to know which to open first. */
export function ReviewRow({ review, arrived }: { review: Review; arrived: boolean }) {
  const { me, project } = useSession();
  const { title, detail } = summaryOf(review);
  const holder = holderOf(review, me, project.role);
  const open = isOpen(review);
  const pressing = review.priority === 'high' || review.priority === 'critical';
  return (
    <Link href={`/reviews/${review.id}`} className={`row ${arrived ? 'row-arrived' : ''}`}>
      <PriorityMark priority={review.priority} />
      <span className="row-what">
        <span className="row-title">
          <Revealed text={title} />
        </span>
        <span className="row-detail">
          <Revealed text={detail} />
        </span>
      </span>
      <span className="row-badges">
        {arrived ? <Badge tone="accent">New</Badge> : null}
        {pressing ? <PriorityBadge priority={review.priority} /> : null}
        {open ? <IrreversibilityBadge irreversibility={review.irreversibility} brief /> : <OutcomeBadge review={review} />}
        {review.current_version > 1 ? (
          <Badge title={`Version ${review.current_version} of the request`}>v{review.current_version}</Badge>
        ) : null}
        {open && holder.kind !== 'nobody' ? <Badge>{holder.kind === 'me' ? 'Claimed by you' : `Claimed by ${holder.name}`}</Badge> : null}
      </span>
      <span className="row-who">
        <span className="row-template">
          <Revealed text={templateNameOf(review)} />
        </span>
        <span className="row-agent">
          <Revealed text={review.requested_by_name ?? 'An agent'} />
        </span>
      </span>
      <span className="row-when">
        {open && review.expires_at !== null ? (
          <span className="row-deadline">
            <Countdown deadline={review.expires_at} action={review.timeout_action} />
          </span>
        ) : !open && review.decided_by !== null ? (
          <span className="row-decider">{byWhom(review.decided_by, me.email)}</span>
        ) : null}
        <span className="row-age">
          <Ago time={review.settled_at ?? review.created_at} />
        </span>
      </span>
    </Link>
  );
}
