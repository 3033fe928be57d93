import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../../api/api-context.js';
import { mayPass } from '../../../api/failure.js';
import { type Desk, isOpen, ownDraft } from '../../../review/desk.js';
import { editedPayload } from '../../../review/difference/edits.js';
import { equalJson } from '../../../review/difference/equal-json.js';
import { useSession } from '../../../session/session-context.js';

export type DraftState = { kind: 'none' } | { kind: 'saving' } | { kind: 'saved'; at: number } | { kind: 'kept_here' };

const PAUSE_MS = 700;
const RETRY_MS = 5_000;

/** Saves the edits on the server a moment after the last of them, one request at a time; the newest is what is saved. */
export function useDraft(desk: Desk | null, { paused }: { paused: boolean }): DraftState {
  const api = useApi();
  const { me, ended } = useSession();
  const [state, setState] = useState<DraftState>({ kind: 'none' });
  const [turn, setTurn] = useState(0);
  const saved = useRef<Record<string, unknown> | undefined>(undefined);
  const known = useRef<string | null>(null);
  const busy = useRef(false);

  const shown = desk?.shown;
  // The server drops a draft when somebody acts on the review or the agent sends another version.
  const life = shown && `${shown.id} ${shown.current_version} ${shown.last_action_at}`;
  if (shown && life && known.current !== life) {
    known.current = life;
    saved.current = ownDraft(shown, me) === null ? undefined : (shown.draft_payload ?? undefined);
  }
  const wanted = shown && desk ? editedPayload(shown.payload, desk.edits) : undefined;
  const wantedText = JSON.stringify(wanted);
  const open = shown !== undefined && isOpen(shown) && desk?.waiting === null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the edits, which are another object at each render
  useEffect(() => {
    if (!shown || !open || ended || paused || busy.current || equalJson(wanted, saved.current)) return;
    const due = setTimeout(async () => {
      busy.current = true;
      setState({ kind: 'saving' });
      const params = { id: shown.id };
      const project = shown.project_id;
      try {
        if (wanted === undefined) await api.call('discardReviewDraft', { params, project });
        else await api.call('saveReviewDraft', { params, project, body: { draft_payload: wanted } });
        saved.current = wanted;
        setState(wanted === undefined ? { kind: 'none' } : { kind: 'saved', at: Date.now() });
      } catch (error) {
        // Kept in this tab in any case. What was refused is told by the review itself, which is loaded again.
        if (!mayPass(error)) saved.current = wanted;
        setState({ kind: 'kept_here' });
        if (mayPass(error)) await new Promise((later) => setTimeout(later, RETRY_MS));
      } finally {
        busy.current = false;
        setTurn((last) => last + 1);
      }
    }, PAUSE_MS);
    return () => clearTimeout(due);
  }, [api, life, open, ended, paused, wantedText, turn]);

  return state;
}
