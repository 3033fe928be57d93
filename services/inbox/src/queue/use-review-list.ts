import type { Review, ReviewListQuery } from '@countersign/contracts';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../api/api-context.js';
import type { ApiClient } from '../api/client.js';
import { useLive } from '../live/LiveProvider.js';
import { useSession } from '../session/session-context.js';
import { Reloader } from './reloader.js';

export interface ReviewListState {
  phase: 'loading' | 'ready';
  items: Review[];
  total: number;
  capped: boolean;
  hasMore: boolean;
  /** Of the last load; what was shown before stays. */
  error: unknown;
  loadingMore: boolean;
  loadMore: () => void;
  reload: () => void;
}

type Query = Pick<ReviewListQuery, 'status' | 'sort'>;
type Loaded = Pick<ReviewListState, 'items' | 'total' | 'capped' | 'hasMore'>;

const PAGE = 50;
/** Frames come in bursts: the list is read once for all of them. */
const SOON_MS = 150;
const ECHOES_MS = [1_500, 8_000];
const NOTHING: Loaded = { items: [], total: 0, capped: false, hasMore: false };

/** The first reviews of a list, as many as are wanted, read page by page. */
async function loadFirst(api: ApiClient, asked: Query, project: string, wanted: number, signal: AbortSignal): Promise<Loaded> {
  const items: Review[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { ...asked, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await api.call('listReviews', { query, project }, signal);
    // A review that moved while the pages were read may come twice.
    const known = new Set(items.map(({ id }) => id));
    items.push(...page.items.filter(({ id }) => !known.has(id)));
    cursor = page.next_cursor;
    const { total, has_more: hasMore, total_is_capped: capped = false } = page;
    if (!hasMore || cursor === undefined || items.length >= wanted) return { items, total, capped, hasMore };
  }
}

/** A list of the project's reviews that stays current: read again whenever the stream tells of one of them, or may have missed something. */
export function useReviewList({ status, sort }: Query): ReviewListState {
  const api = useApi();
  const { project, ended } = useSession();
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [loadingMore, setLoadingMore] = useState(false);
  const wanted = useRef(PAGE);
  const reloader = useRef<Reloader | null>(null);
  const projectId = project.id;

  useEffect(() => {
    if (ended) return;
    wanted.current = PAGE;
    setLoaded(null);
    const own = new Reloader(
      async (signal) => {
        try {
          const found = await loadFirst(api, { status, sort }, projectId, wanted.current, signal);
          if (signal.aborted) return;
          setLoaded(found);
          setError(null);
        } catch (failure) {
          if (!signal.aborted) setError(failure);
        } finally {
          if (!signal.aborted) setLoadingMore(false);
        }
      },
      SOON_MS,
      ECHOES_MS,
    );
    reloader.current = own;
    void own.now();
    return () => own.close();
  }, [api, status, sort, projectId, ended]);

  const soon = () => reloader.current?.soon();
  useLive({ onFrame: (frame) => (frame.project_id === projectId ? soon() : undefined), onGap: soon });

  return {
    phase: loaded === null && error === null ? 'loading' : 'ready',
    ...(loaded ?? NOTHING),
    error,
    loadingMore,
    loadMore: () => {
      wanted.current = (loaded?.items.length ?? 0) + PAGE;
      setLoadingMore(true);
      void reloader.current?.now();
    },
    reload: () => void reloader.current?.now(),
  };
}
