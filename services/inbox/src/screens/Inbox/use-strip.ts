import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface Strip {
  ref: RefObject<HTMLElement | null>;
  onScroll: () => void;
  /** On which sides there is more of it than is seen. */
  'data-more': string | undefined;
}

/**
 * A row of links that may be wider than the screen: the current one is brought into sight, and it is known where more follow.
 * @param laidOut which link is current, and whatever else moves it.
 */
export function useStrip(laidOut: string): Strip {
  const ref = useRef<HTMLElement>(null);
  const [more, setMore] = useState('');
  const look = () => {
    const strip = ref.current;
    if (strip === null) return;
    const right = strip.scrollWidth - strip.clientWidth - strip.scrollLeft;
    setMore([...(strip.scrollLeft > 1 ? ['before'] : []), ...(right > 1 ? ['after'] : [])].join(' '));
  };
  const latest = useRef(look);
  latest.current = look;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link that was moved has to be brought into sight again
  useLayoutEffect(() => {
    const strip = ref.current;
    const link = strip?.querySelector<HTMLElement>('[aria-current]');
    if (strip && link) strip.scrollLeft = link.offsetLeft - (strip.clientWidth - link.offsetWidth) / 2;
    latest.current();
  }, [laidOut]);
  useEffect(() => {
    const strip = ref.current;
    if (strip === null) return;
    const watch = new ResizeObserver(() => latest.current());
    watch.observe(strip);
    return () => watch.disconnect();
  }, []);
  return { ref, onScroll: look, 'data-more': more === '' ? undefined : more };
}
