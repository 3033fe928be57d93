import { useEffect, useRef, useState } from 'react';
import { useAnnounce } from '../../elements/telling/Announcer.js';
import type { ReviewListState } from '../../queue/use-review-list.js';
import { summaryOf } from '../../review/summary.js';

const FRESH_MS = 8_000;
const NONE: ReadonlySet<string> = new Set();

/** Reviews that came while the person looked on: marked for a while, and said aloud. */
export function useArrivals({ items, phase }: ReviewListState): ReadonlySet<string> {
  const announce = useAnnounce();
  const known = useRef<Set<string> | null>(null);
  const [arrived, setArrived] = useState(NONE);
  useEffect(() => {
    if (phase === 'loading') return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...items.map(({ id }) => id)]);
    const fresh = before === null ? [] : items.filter(({ id }) => !before.has(id));
    if (fresh.length === 0) return;
    const [first] = fresh;
    announce(fresh.length === 1 && first ? `New: ${summaryOf(first).title}` : `${fresh.length} new reviews`);
    const ids = fresh.map(({ id }) => id);
    setArrived((now) => new Set([...now, ...ids]));
    setTimeout(() => setArrived((now) => new Set([...now].filter((id) => !ids.includes(id)))), FRESH_MS);
  }, [items, phase, announce]);
  return arrived;
}
