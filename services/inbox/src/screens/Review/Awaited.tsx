import type { ChangeRequest, Review } from '@countersign/contracts';
import { Difference } from '../../elements/Difference.js';
import { Revealed } from '../../elements/Revealed.js';
import { Ago } from '../../elements/time/Moment.js';
import { payloadDifference } from '../../review/difference/payload-difference.js';
import { useSession } from '../../session/session-context.js';

/** What the agent was asked for, while it works on it; `answered` when it has, and its answer waits to be looked at. */
export function Awaited({ review, answered }: { review: Review; answered: boolean }) {
  const { change_request } = review;
  return (
    <div className="awaited">
      <p className="muted">
        {change_request ? <RequestedBy request={change_request} /> : null}
        {answered ? null : ' This page tells you when the next version is there.'}
      </p>
      <Words review={review} />
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

/** What was asked for: in words, and as edits. */
export function Words({ review: { change_request, payload, template_fields } }: { review: Review }) {
  if (change_request === null) return null;
  const { feedback, edited_payload } = change_request;
  const suggested = payloadDifference(payload, { ...payload, ...edited_payload }, template_fields);
  return (
    <>
      {feedback ? (
        <blockquote className="quote">
          <Revealed text={feedback} />
        </blockquote>
      ) : null}
      {suggested.length > 0 ? (
        <details className="was-and-is">
          <summary>
            Suggested edits: <Revealed text={suggested.map(({ label }) => label).join(', ')} />
          </summary>
          <dl className="suggested">
            {suggested.map(({ key, label, pieces }) => (
              <div key={key}>
                <dt className="muted">
                  <Revealed text={label} />
                </dt>
                <dd>
                  <Difference pieces={pieces} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      ) : null}
    </>
  );
}
