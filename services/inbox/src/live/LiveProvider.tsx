import type { ReviewFrame } from '@countersign/contracts';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { useApi } from '../api/api-context.js';
import { useSession } from '../session/session-context.js';
import { ReviewStream, type StreamState } from './review-stream.js';

interface Listener {
  /** A fact of a review of any project of the person. */
  onFrame: (frame: ReviewFrame) => void;
  /** Something may have been missed. */
  onGap: () => void;
}

const ListenersContext = createContext<Set<Listener>>(new Set());
const StateContext = createContext<StreamState>('connecting');

/** Keeps the stream while somebody is signed in, and passes on what it tells. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const api = useApi();
  const { ended } = useSession();
  const listeners = useMemo(() => new Set<Listener>(), []);
  const [state, setState] = useState<StreamState>('connecting');

  useEffect(() => {
    if (ended) return;
    const probe = () => api.call('getMe', {}).then(nothing, nothing);
    const stream = new ReviewStream(probe, (news) => {
      if (news.kind === 'state') setState(news.state);
      else if (news.kind === 'gap') for (const listener of listeners) listener.onGap();
      else for (const listener of listeners) listener.onFrame(news.frame);
    });
    return () => stream.close();
  }, [api, ended, listeners]);

  return (
    <ListenersContext.Provider value={listeners}>
      <StateContext.Provider value={ended ? 'down' : state}>{children}</StateContext.Provider>
    </ListenersContext.Provider>
  );
}

const nothing = () => {};

export function useStreamState(): StreamState {
  return useContext(StateContext);
}

export function useLive(listener: Listener): void {
  const listeners = useContext(ListenersContext);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const own: Listener = { onFrame: (frame) => latest.current.onFrame(frame), onGap: () => latest.current.onGap() };
    listeners.add(own);
    return () => void listeners.delete(own);
  }, [listeners]);
}
