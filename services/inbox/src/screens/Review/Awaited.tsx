import type { Review } from '@countersign/contracts';
import { Revealed } from '../../elements/Revealed.js';
import { Ago } from '../../elements/time/Moment.js';
import type { ChangeRequest } from '../../review/desk.js';
import { useSession } from '../../session/session-context.js';

/** What the agent was asked for, while it works on it. */
export function Awaited({ review }: { review: Review }) {
  return (
    <div className="awaited">
      <p className="muted">
        <RequestedBy request={review} /> This page tells you when the next version is there.
      </p>
      {review.feedback ? (
        <blockquote className="quote">
          <Revealed text={review.feedback} />
        </blockquote>
      ) : null}
    </div>
  );
}

/** Who asked for changes, and when, as a sentence. */
export function RequestedBy({ request: { last_action_by, last_action_at } }: { request: ChangeRequest }) {
  const { me } = useSession();
  const by = last_action_by?.replace(/^reviewer:/, '');
  return (
    <>
      {by ? `${by === me.email ? 'You' : by} requested changes` : 'Changes were requested'}{' '}
      {last_action_at ? <Ago time={last_action_at} /> : null}.
    </>
  );
}
