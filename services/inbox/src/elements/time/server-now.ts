import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.js';

/** The server's time, drawn again at every beat. */
export function useServerNow(beatMs: number): number {
  const { clock } = useApi();
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    setNow(clock.now());
    const beat = setInterval(() => setNow(clock.now()), beatMs);
    return () => clearInterval(beat);
  }, [clock, beatMs]);
  return now;
}
