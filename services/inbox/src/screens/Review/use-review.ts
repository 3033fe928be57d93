import type { Review } from '@countersign/contracts';
import { type Dispatch, useEffect, useReducer, useRef, useState } from 'react';
import { useApi } from '../../api/api-context.js';
import { mayPass } from '../../api/failure.js';
import { useLive } from '../../live/LiveProvider.js';
import { Reloader } from '../../queue/reloader.js';
import { changeDesk, type Desk, type DeskEvent, isOpen, openDesk, ownDraft } from '../../review/desk.js';
import { UnsentStore } from '../../review/unsent.js';
import { useSession } from '../../session/session-context.js';

const SOON_MS = 50;
/** A review that could not be loaded for a reason that may pass is tried again this often. */
const AGAIN_MS = 3_000;
/** The server is asked a moment after a deadline, so that its clock has passed it too. */
const AFTER_DEADLINE_MS = 400;
/** The longest wait a browser's timer holds. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

type LoadedReview = { desk: Desk | null; error: unknown; change: Dispatch<DeskEvent>; reload: () => void };
type DeskState = { desk: Desk | null };
type Step = DeskEvent | { type: 'opened'; desk: Desk };

function step(state: DeskState, event: Step): DeskState {
  if (event.type === 'opened') return { desk: event.desk };
  return state.desk === null ? state : { desk: changeDesk(state.desk, event) };
}

/** A review with what the person typed about it, current with the server and kept in this tab. */
export function useReview(id: string): LoadedReview {
  const api = useApi();
  const { me, ended } = useSession();
  const [{ desk }, dispatch] = useReducer(step, { desk: null });
  const [error, setError] = useState<unknown>(null);
  const reloader = useRef<Reloader | null>(null);
  const opened = useRef(false);

  useEffect(() => {
    if (ended) return;
    const own = new Reloader(async (signal) => {
      try {
        const review = await api.call('getReview', { params: { id } }, signal);
        if (signal.aborted) return;
        setError(null);
        if (opened.current) dispatch({ type: 'loaded', review });
        else dispatch({ type: 'opened', desk: firstDesk(review, me) });
        opened.current = true;
      } catch (failure) {
        if (!signal.aborted) setError(failure);
      }
    }, SOON_MS);
    reloader.current = own;
    void own.now();
    return () => own.close();
  }, [api, id, me, ended]);

  const soon = () => reloader.current?.soon();
  useLive({ onFrame: (frame) => (frame.review_id === id ? soon() : undefined), onGap: soon });

  useEffect(() => {
    if (error === null || !mayPass(error)) return;
    const again = setTimeout(() => void reloader.current?.now(), AGAIN_MS);
    return () => clearTimeout(again);
  }, [error]);

  const newest = desk?.waiting ?? desk?.shown;
  const deadline = newest && isOpen(newest) ? newest.expires_at : null;
  useEffect(() => {
    if (deadline === null) return;
    const left = Math.max(0, Date.parse(deadline) - api.clock.now()) + AFTER_DEADLINE_MS;
    const due = setTimeout(() => reloader.current?.soon(), Math.min(left, LONGEST_WAIT_MS));
    return () => clearTimeout(due);
  }, [api, deadline]);

  const { edits, feedback } = desk ?? {};
  useEffect(() => {
    if (edits !== undefined && feedback !== undefined) new UnsentStore().keep(id, me.id, { edits, feedback });
  }, [id, me.id, edits, feedback]);

  return { desk, error, change: dispatch, reload: () => void reloader.current?.now() };
}

/** What this tab kept comes before what the server kept: it is the same, or newer. */
function firstDesk(review: Review, me: { id: string; name: string; email: string }): Desk {
  const kept = new UnsentStore().read(review.id, me.id);
  return openDesk(review, { edits: kept?.edits ?? ownDraft(review, me) ?? {}, feedback: kept?.feedback ?? '' });
}
