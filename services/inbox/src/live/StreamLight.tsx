import { useStreamState } from './LiveProvider.js';
import { useOnline } from './online.js';

const WORDS = { live: 'Live', connecting: 'Connecting…', down: 'Disconnected' };

/** Whether what is shown is kept current by itself. */
export function StreamLight() {
  const stream = useStreamState();
  const state = useOnline() ? stream : 'offline';
  const words = state === 'offline' ? 'Offline' : WORDS[state];
  return (
    <span
      className={`stream-light stream-${state}`}
      role="status"
      title={state === 'live' ? 'Live: new requests appear automatically' : undefined}
    >
      <span className="stream-dot" aria-hidden="true" />
      {words}
    </span>
  );
}
