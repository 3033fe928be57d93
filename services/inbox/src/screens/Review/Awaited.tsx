import type { ChangeRequest, Review } from '@countersign/contracts';
import { Revealed } from '../../elements/Revealed.js';
import { Ago } from '../../elements/time/Moment.js';
import { useSession } from '../../session/session-context.js';

/** What the agent was asked for, while it works on it. */
export function Awaited({ review: { change_request } }: { review: Review }) {
  return (
    <div className="awaited">
      <p className="muted">
        {change_request ? <RequestedBy request={change_request} /> : null} This page tells you when the next version is there.
      </p>
      <Words request={change_request} />
    </div>
  );
}

/** Who asked for changes, and when, as a sentence. */
export function RequestedBy({ request: { requested_by, requested_at } }: { request: ChangeRequest }) {
  const { me } = useSession();
  const by = requested_by.replace(/^reviewer:/, '');
  return (
    <>
      {by === me.email ? 'You' : by} requested changes <Ago time={requested_at} />.
    </>
  );
}

export function Words({ request }: { request: ChangeRequest | null }) {
  return request?.feedback ? (
    <blockquote className="quote">
      <Revealed text={request.feedback} />
    </blockquote>
  ) : null;
}
