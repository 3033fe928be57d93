import { type SyntheticEvent, useLayoutEffect, useRef, useState } from 'react';

/** Two clicks or taps that somebody makes at once are at most half a second apart. */
export const SETTLE_MS = 600;

export interface Settling {
  /** For what stands around the buttons: nothing of a press in that time reaches them, be it by pointer or by keyboard. */
  guard: { 'data-settling': '' | undefined; onClickCapture: (event: SyntheticEvent) => void };
  /** Whether that time lasts: for what is begun without a button. */
  isSettling: () => boolean;
}

/**
 * Buttons that have just come, or mean something else than a moment ago, take no press for that moment: a second click, tap or key may have
 * been meant for what was there before. They look and sound as ever, for nothing is wrong with them.
 * @param what the buttons mean: the time begins anew whenever it changes.
 */
export function useSettling(what: string): Settling {
  const since = useRef(Number.POSITIVE_INFINITY);
  const [settled, setSettled] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the buttons mean is all that begins the time anew
  useLayoutEffect(() => {
    since.current = performance.now();
    setSettled(false);
    const due = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(due);
  }, [what]);
  // By the time of the press, not of its handling: a busy page handles it late.
  const early = (at: number) => at < since.current + SETTLE_MS;
  return {
    guard: {
      'data-settling': settled ? undefined : '',
      onClickCapture: (event) => {
        if (!early(event.nativeEvent.timeStamp)) return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
    isSettling: () => early(performance.now()),
  };
}
