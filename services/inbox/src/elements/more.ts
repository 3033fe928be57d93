import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

export interface Scrolled<E extends HTMLElement> {
  ref: RefObject<E | null>;
  onScroll: () => void;
  /** On which sides there is more of it than is seen: `before`, `after`. */
  'data-more': string | undefined;
}

/** Something that is scrolled one way, and where more of it follows, so that it can be seen. */
export function useMore<E extends HTMLElement>(axis: 'x' | 'y'): Scrolled<E> {
  const ref = useRef<E>(null);
  const [more, setMore] = useState('');
  const onScroll = useCallback(() => {
    const element = ref.current;
    if (element === null) return;
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = element;
    const [at, rest] =
      axis === 'x' ? [scrollLeft, scrollWidth - clientWidth - scrollLeft] : [scrollTop, scrollHeight - clientHeight - scrollTop];
    setMore([...(at > 1 ? ['before'] : []), ...(rest > 1 ? ['after'] : [])].join(' '));
  }, [axis]);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    // What it holds grows without it, once it is as large as it may be.
    const watch = new ResizeObserver(onScroll);
    for (const seen of [element, ...element.children]) watch.observe(seen);
    return () => watch.disconnect();
  }, [onScroll]);
  return { ref, onScroll, 'data-more': more === '' ? undefined : more };
}
