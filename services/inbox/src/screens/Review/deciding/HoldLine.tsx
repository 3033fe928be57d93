import type { Review } from '@countersign/contracts';
import { type Dispatch, useState } from 'react';
import { useApi } from '../../../api/api-context.js';
import type { DeskEvent } from '../../../review/desk.js';
import type { Holder } from '../../../review/holder.js';
import { useSession } from '../../../session/session-context.js';
import { type Notice, noticeOf } from './use-decision.js';

interface HoldProps {
  review: Review;
  holder: Holder;
  change: Dispatch<DeskEvent>;
  reload: () => void;
  tell: (notice: Notice) => void;
}

/** Who has the review in hand, and taking it or letting it go. */
export function HoldLine({ review, holder, change, reload, tell }: HoldProps) {
  const api = useApi();
  const { me, project } = useSession();
  const [busy, setBusy] = useState(false);
  const target = { params: { id: review.id }, project: review.project_id };

  async function run(call: () => Promise<Review>) {
    setBusy(true);
    try {
      change({ type: 'loaded', review: await call() });
    } catch (error) {
      tell(noticeOf(error, me.email));
    } finally {
      setBusy(false);
      // The answer to a claim says nothing of drafts.
      reload();
    }
  }
  const claim = () => void run(() => api.call('claimReview', target));
  const takeOver = () => void run(() => api.call('claimReview', { ...target, query: { force: true } }));
  const release = () => void run(() => api.call('releaseReview', target));

  switch (holder.kind) {
    case 'nobody':
      return (
        <p className="panel-line hold-line">
          <span className="muted">Unclaimed</span>
          <button type="button" className="button-text" disabled={busy} onClick={claim}>
            Claim
          </button>
        </p>
      );
    case 'me':
      return (
        <p className="panel-line hold-line">
          <span>You have claimed this review. Only you can decide it.</span>
          <button type="button" className="button-text" disabled={busy} onClick={release}>
            Release
          </button>
        </p>
      );
    case 'other':
      return (
        <p className="panel-line hold-line hold-other">
          <span>
            <strong>{holder.name}</strong> has claimed this review. Only they can decide it.
          </span>
          {project.role === 'admin' ? (
            <button type="button" className="button-text" disabled={busy} onClick={takeOver}>
              Take over
            </button>
          ) : null}
        </p>
      );
  }
}
