import { agoOf, fullTimeOf } from '../../review/deadline.js';
import { useServerNow } from './server-now.js';

/** A time as how long ago it was; exactly when on pointing at it. */
export function Ago({ time }: { time: string }) {
  const now = useServerNow(30_000);
  return (
    <time dateTime={time} title={fullTimeOf(time)}>
      {agoOf(time, now)}
    </time>
  );
}

export function FullTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={time}>
      {fullTimeOf(time)}
    </time>
  );
}
