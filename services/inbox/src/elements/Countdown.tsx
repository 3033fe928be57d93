import { useState } from 'react';
import { beatOf, durationOf, fullTimeOf, pressureOf } from '../review/deadline.js';
import { useServerNow } from './server-now.js';

/** What is left until a deadline, by the server's clock. Not announced as it runs: the deadline itself is in the title. */
export function Countdown({ deadline }: { deadline: string }) {
  const [beat, setBeat] = useState(1_000);
  const now = useServerNow(beat);
  const next = beatOf(deadline, now);
  if (next !== beat) setBeat(next);
  const pressure = pressureOf(deadline, now);
  return (
    <time className={`countdown countdown-${pressure}`} dateTime={deadline} title={fullTimeOf(deadline)}>
      {pressure === 'over' ? 'now' : durationOf(Date.parse(deadline) - now)}
    </time>
  );
}
