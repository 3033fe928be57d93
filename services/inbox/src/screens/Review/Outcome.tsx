import type { Review } from '@countersign/contracts';
import type { Dispatch, Ref } from 'react';
import { Link } from 'wouter';
import { Digest } from '../../elements/Digest.js';
import { Revealed } from '../../elements/Revealed.js';
import { outcomeOf } from '../../elements/ReviewBadges.js';
import { FullTime } from '../../elements/time/Moment.js';
import { ruleOf } from '../../review/decider.js';
import type { DeskEvent } from '../../review/desk.js';
import { useSession } from '../../session/session-context.js';
import { ArchiveButton } from './ArchiveButton.js';
import { RequestedBy, Words } from './Awaited.js';
import type { Notice } from './deciding/use-decision.js';

/** How the review ended: by whom, when, and what became of it. */
interface OutcomeProps {
  review: Review;
  next: string | null;
  change: Dispatch<DeskEvent>;
  tell: (notice: Notice) => void;
  ref: Ref<HTMLDivElement>;
}

export function Outcome({ review, next, change, tell, ref }: OutcomeProps) {
  const { label, tone } = outcomeOf(review);
  return (
    <section className={`outcome outcome-${tone}`} aria-labelledby="outcome-title" ref={ref} tabIndex={-1}>
      <header className="outcome-head">
        <div>
          <h2 id="outcome-title" className="outcome-title">
            {label}
            {review.status === 'archived' ? <span className="muted"> · Archived</span> : null}
          </h2>
          <p className="outcome-by">
            <Decider review={review} />
          </p>
        </div>
        <div className="outcome-actions">
          <ArchiveButton review={review} change={change} tell={tell} />
          {next === null ? (
            <Link href="/" className="button">
              Back to the inbox
            </Link>
          ) : (
            <Link href={`/reviews/${next}`} className="button button-primary">
              Next review
            </Link>
          )}
        </div>
      </header>
      {review.decision !== null && review.feedback ? (
        <blockquote className="quote">
          <Revealed text={review.feedback} />
        </blockquote>
      ) : null}
      <Unanswered review={review} />
      <Approved review={review} />
    </section>
  );
}

/** What the agent had been asked for, and did not answer before the end. */
function Unanswered({ review }: { review: Review }) {
  const request = review.change_request;
  if (request === null) return null;
  return (
    <div className="outcome-unanswered">
      <p className="outcome-by">
        <RequestedBy request={request} /> The agent had not answered yet.
      </p>
      <Words review={review} />
    </div>
  );
}

const PROOFS: Record<NonNullable<Review['decided_by_auth']>['method'], string> = {
  password: 'a password',
  passkey: 'a passkey',
  sign_in_link: 'a sign-in link',
  recovery_link: 'a recovery link',
};

function Decider({ review }: { review: Review }) {
  const { me } = useSession();
  const { decided_by, decided_by_auth, action_label } = review;
  if (review.withdrawn)
    return (
      <>
        Withdrawn by the agent
        <EndedAt review={review} />
        {review.withdrawn_reason ? (
          <>
            : <Revealed text={review.withdrawn_reason} />
          </>
        ) : null}
      </>
    );
  if (decided_by === null)
    return (
      <>
        The deadline passed without a decision
        <EndedAt review={review} />
      </>
    );
  const who = decided_by === me.email ? `You (${decided_by})` : (ruleOf(decided_by)?.sentence ?? decided_by);
  return (
    <>
      {who}
      <EndedAt review={review} />
      {action_label ? ` · ${action_label}` : null}
      {decided_by_auth ? ` · signed in with ${PROOFS[decided_by_auth.method]}` : null}
    </>
  );
}

/** When it ended, after who ended it. */
function EndedAt({ review: { settled_at } }: { review: Review }) {
  return settled_at === null ? null : (
    <>
      {' · '}
      <FullTime time={settled_at} />
    </>
  );
}

function Approved({ review }: { review: Review }) {
  if (review.approved_digest === null) return null;
  const { redemption, executions, approval_expires_at } = review;
  return (
    <dl className="facts">
      <div>
        <dt>Approved value</dt>
        <dd>
          <Digest label="the approved digest" digest={review.approved_digest} />
        </dd>
      </div>
      <div>
        <dt>Redeemed</dt>
        <dd>
          {redemption ? (
            <>
              Once, <FullTime time={redemption.redeemed_at} />
              {redemption.executor ? ` by ${redemption.executor}` : ''}
            </>
          ) : approval_expires_at ? (
            <>
              Not yet; valid until <FullTime time={approval_expires_at} />
            </>
          ) : (
            'Not yet'
          )}
        </dd>
      </div>
      {executions.map((execution) => (
        <div key={execution.id}>
          <dt>{execution.status === 'succeeded' ? 'Executed' : 'Execution failed'}</dt>
          <dd>
            <FullTime time={execution.executed_at} />
            {execution.note ? (
              <>
                : <Revealed text={execution.note} />
              </>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}
