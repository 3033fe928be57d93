import type { Review } from '@countersign/contracts';
import { useState } from 'react';
import { beatOf, durationOf, fullTimeOf, LAPSE, pressureOf } from '../../review/deadline.js';
import { useServerNow } from './server-now.js';

/** What the clock does and how long is left, by the server's clock. Not announced as it runs: the deadline itself is in the title. */
export function Countdown({ deadline, action }: { deadline: string; action: Review['timeout_action'] }) {
  const [beat, setBeat] = useState(1_000);
  const now = useServerNow(beat);
  const next = beatOf(deadline, now);
  if (next !== beat) setBeat(next);
  const pressure = pressureOf(deadline, now);
  const over = pressure === 'over';
  return (
    <>
      <span className="countdown-what">
        {LAPSE[action ?? 'expire']} {over ? '' : 'in '}
      </span>
      <time className={`countdown countdown-${pressure}`} dateTime={deadline} title={fullTimeOf(deadline)}>
        {over ? 'now' : durationOf(Date.parse(deadline) - now)}
      </time>
    </>
  );
}
