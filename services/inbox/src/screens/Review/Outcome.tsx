import type { Review } from '@countersign/contracts';
import type { Ref } from 'react';
import { Link } from 'wouter';
import { Digest } from '../../elements/Digest.js';
import { FullTime } from '../../elements/Moment.js';
import { Revealed } from '../../elements/Revealed.js';
import { outcomeOf } from '../../elements/ReviewBadges.js';
import { useSession } from '../../session/session-context.js';

/** How the review ended: by whom, when, and what became of it. */
export function Outcome({ review, next, ref }: { review: Review; next: string | null; ref: Ref<HTMLDivElement> }) {
  const { label, tone } = outcomeOf(review);
  return (
    <section className={`outcome outcome-${tone}`} aria-labelledby="outcome-title" ref={ref} tabIndex={-1}>
      <header className="outcome-head">
        <div>
          <h2 id="outcome-title" className="outcome-title">
            {label}
          </h2>
          <p className="outcome-by">
            <Decider review={review} />
          </p>
        </div>
        {next === null ? (
          <Link href="/" className="button">
            Back to the inbox
          </Link>
        ) : (
          <Link href={`/reviews/${next}`} className="button button-primary">
            Next review
          </Link>
        )}
      </header>
      {review.feedback ? (
        <blockquote className="quote">
          <Revealed text={review.feedback} />
        </blockquote>
      ) : null}
      <Approved review={review} />
    </section>
  );
}

const SYSTEM: Record<string, string> = {
  'system:timeout': 'Automatic: the deadline passed',
  'system:max_iterations': 'Automatic: change-request limit reached',
  'system/auto-approve': 'Automatic: approved by the template',
};

const PROOFS: Record<NonNullable<Review['decided_by_auth']>['method'], string> = {
  password: 'password',
  passkey: 'passkey',
  sign_in_link: 'sign-in link',
  recovery_link: 'recovery link',
};

function Decider({ review }: { review: Review }) {
  const { me } = useSession();
  const { decided_by, decided_at, decided_by_auth, action_label } = review;
  if (review.withdrawn)
    return (
      <>
        Withdrawn by the agent
        {review.withdrawn_reason ? (
          <>
            : <Revealed text={review.withdrawn_reason} />
          </>
        ) : (
          '.'
        )}
      </>
    );
  if (decided_by === null) return <>The deadline passed without a decision.</>;
  const who = decided_by === me.email ? `You (${decided_by})` : (SYSTEM[decided_by] ?? decided_by);
  return (
    <>
      {who}
      {decided_at ? (
        <>
          {' · '}
          <FullTime time={decided_at} />
        </>
      ) : null}
      {action_label ? ` · ${action_label}` : null}
      {decided_by_auth ? ` · signed in with ${PROOFS[decided_by_auth.method]}` : null}
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
