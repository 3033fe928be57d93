import type { Review } from '@countersign/contracts';
import { Digest } from '../../elements/Digest.js';
import { Revealed } from '../../elements/Revealed.js';
import { Ago, FullTime } from '../../elements/time/Moment.js';
import { safeLink } from '../../fields/addresses.js';
import { useProjectPeople } from '../../queue/project-people.js';
import { LAPSE } from '../../review/deadline.js';
import { isOpen } from '../../review/desk.js';
import { changeRequestsOf } from '../../review/summary.js';
import { useSession } from '../../session/session-context.js';

/** Who asks, how sure it is, and what is bound by the decision. */
export function Facts({ review }: { review: Review }) {
  const { me } = useSession();
  const people = useProjectPeople();
  const { on_behalf_of, confidence, trace_url, assignee, max_iterations } = review;
  const principal = on_behalf_of === null ? null : people.get(on_behalf_of);
  const trace = safeLink(trace_url);
  return (
    <section className="panel panel-facts" aria-labelledby="facts-title">
      <h2 id="facts-title" className="section-title">
        About this request
      </h2>
      <dl className="facts">
        <div>
          <dt>Requested by</dt>
          <dd>
            <Revealed text={review.requested_by_name ?? 'An agent'} />, <Ago time={review.created_at} />
          </dd>
        </div>
        {on_behalf_of === null ? null : (
          <div>
            <dt>On behalf of</dt>
            <dd>
              {on_behalf_of === me.id ? 'you, so someone else must approve it' : (principal?.name ?? principal?.email ?? on_behalf_of)}
            </dd>
          </div>
        )}
        {assignee === null ? null : (
          <div>
            <dt>Assigned to</dt>
            <dd>{assignee === me.email ? 'you' : assignee.replace(/^role:(.+)$/, 'all $1s')}</dd>
          </div>
        )}
        {confidence === null ? null : (
          <div>
            <dt>Agent’s confidence</dt>
            <dd className="confidence">
              <meter min={0} max={1} value={confidence} aria-label="Agent’s confidence" />
              {Math.round(confidence * 100)} %
            </dd>
          </div>
        )}
        {isOpen(review) && review.expires_at !== null ? (
          <div>
            <dt>Deadline</dt>
            <dd>
              <FullTime time={review.expires_at} />, then it {LAPSE[review.timeout_action ?? 'expire']}
            </dd>
          </div>
        ) : null}
        <div>
          <dt>Version</dt>
          <dd>{review.current_version}</dd>
        </div>
        {max_iterations === null ? null : (
          <div>
            <dt>Change requests</dt>
            <dd>
              {changeRequestsOf(review)} of {max_iterations}
            </dd>
          </div>
        )}
        <div>
          <dt>Payload digest</dt>
          <dd>
            <Digest label="the payload digest" digest={review.payload_digest} />
          </dd>
        </div>
        <div>
          <dt>Template</dt>
          <dd>
            {review.template_slug}
            {review.template_version === null ? '' : `, version ${review.template_version}`}
          </dd>
        </div>
        {trace === null ? null : (
          <div>
            <dt>Trace</dt>
            <dd>
              <a href={trace} target="_blank" rel="noopener noreferrer nofollow">
                Open at {URL.parse(trace)?.host}
              </a>
            </dd>
          </div>
        )}
        <div className="facts-wide">
          <dt>Review</dt>
          <dd>
            <code className="review-id">{review.id}</code>
          </dd>
        </div>
      </dl>
    </section>
  );
}
