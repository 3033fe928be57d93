import type { Review } from '@countersign/contracts';
import { type Dispatch, useState } from 'react';
import { useApi } from '../../api/api-context.js';
import { useAnnounce } from '../../elements/telling/Announcer.js';
import type { DeskEvent } from '../../review/desk.js';
import { useSession } from '../../session/session-context.js';
import { type Notice, noticeOf } from './deciding/use-decision.js';

interface ArchiveProps {
  review: Review;
  change: Dispatch<DeskEvent>;
  tell: (notice: Notice) => void;
}

/** Puts a settled review out of the lists and back; nothing of it is removed (decision 20). */
export function ArchiveButton({ review, change, tell }: ArchiveProps) {
  const api = useApi();
  const announce = useAnnounce();
  const { me } = useSession();
  const [busy, setBusy] = useState(false);
  const archived = review.status === 'archived';

  async function toggle() {
    setBusy(true);
    try {
      const target = { params: { id: review.id }, project: review.project_id };
      change({ type: 'loaded', review: await api.call(archived ? 'unarchiveReview' : 'archiveReview', target) });
      announce(archived ? 'The review is no longer archived' : 'The review is archived');
    } catch (error) {
      tell(noticeOf(error, me.email));
    } finally {
      setBusy(false);
    }
  }
  return (
    <button type="button" className="button" disabled={busy} onClick={() => void toggle()}>
      {archived ? 'Unarchive' : 'Archive'}
    </button>
  );
}
