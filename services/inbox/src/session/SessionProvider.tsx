import type { Me } from '@countersign/contracts';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useApi } from '../api/api-context.js';
import { sessionEnded } from '../api/failure.js';
import { UnsentStore } from '../review/unsent.js';
import { chosenProject, rememberProject } from './chosen-project.js';
import { type Session, SessionContext } from './session-context.js';

type State =
  | { kind: 'loading' }
  | { kind: 'out' }
  | { kind: 'failed'; error: unknown }
  | { kind: 'in'; me: Me; project: string; ended: boolean };

const CHANNEL = 'countersign.session';

/**
 * Finds out who is signed in, and keeps watch: a session that ends in the middle of work leaves the page as it is, under the question to
 * sign in again. Whoever signs in as somebody else begins with an empty page.
 */
export function SessionProvider({
  children,
  signedOut,
  loading,
  failed,
}: {
  children: ReactNode;
  signedOut: ReactNode;
  loading: ReactNode;
  failed: (error: unknown, retry: () => void) => ReactNode;
}) {
  const api = useApi();
  const [state, setState] = useState<State>({ kind: 'loading' });
  const person = useRef<string | null>(null);

  const refresh = useCallback(async () => {
    try {
      // Without a project: the one remembered may not be this person's any more.
      api.project = null;
      const me = await api.call('getMe', {});
      if (person.current !== null && person.current !== me.id) {
        new UnsentStore().clear();
        location.assign('/');
        return;
      }
      person.current = me.id;
      api.project = chosenProject(me);
      setState({ kind: 'in', me, project: api.project, ended: false });
    } catch (error) {
      setState((now) => {
        if (now.kind === 'in') return { ...now, ended: now.ended || sessionEnded(error) };
        return sessionEnded(error) ? { kind: 'out' } : { kind: 'failed', error };
      });
    }
  }, [api]);

  useEffect(() => {
    api.onSessionEnded = () => setState((now) => (now.kind === 'in' ? { ...now, ended: true } : now));
    void refresh();
    const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(CHANNEL) : null;
    if (channel) channel.onmessage = () => void refresh();
    return () => channel?.close();
  }, [api, refresh]);

  const ended = state.kind === 'in' && state.ended;
  useEffect(() => {
    if (!ended) return;
    const look = () => void refresh();
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, [ended, refresh]);

  const session = useMemo((): Session | null => {
    if (state.kind !== 'in') return null;
    const { me } = state;
    const project = me.projects.find(({ id }) => id === state.project) ?? { id: me.project_id, name: '', role: me.role };
    return {
      me,
      project,
      ended: state.ended,
      refresh,
      chooseProject: (id) => {
        rememberProject(id);
        api.project = id;
        setState({ ...state, project: id });
      },
      signOut: async () => {
        await api.call('logout', {});
        new UnsentStore().clear();
        tellOtherTabs();
        location.assign('/login');
      },
    };
  }, [state, api, refresh]);

  switch (state.kind) {
    case 'loading':
      return loading;
    case 'out':
      return signedOut;
    case 'failed':
      return failed(state.error, () => void refresh());
    case 'in':
      return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
  }
}

/** Other tabs of this browser share the session; they look again. */
export function tellOtherTabs(): void {
  if (typeof BroadcastChannel !== 'function') return;
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('changed');
  channel.close();
}
