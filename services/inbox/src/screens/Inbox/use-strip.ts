import { useLayoutEffect } from 'react';
import { type Scrolled, useMore } from '../../elements/more.js';

/**
 * A row of links that may be wider than the screen: the current one is brought into sight, and it is known where more follow.
 * @param laidOut which link is current, and whatever else moves it.
 */
export function useStrip(laidOut: string): Scrolled<HTMLElement> {
  const strip = useMore<HTMLElement>('x');
  const { ref, onScroll } = strip;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link that was moved has to be brought into sight again
  useLayoutEffect(() => {
    const row = ref.current;
    const link = row?.querySelector<HTMLElement>('[aria-current]');
    if (row && link) row.scrollLeft = link.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
    onScroll();
  }, [laidOut]);
  return strip;
}
