/**
 * The server's stream of what happens to reviews, once per browser: a person holds few streams, a browser few connections, and either would
 * run out over some open tabs.
 *
 * L1 One tab holds the lock and the stream, and tells the others. When it closes, the next one takes over.
 * L2 `gap` says that something may have been missed: whoever shows reviews loads them again. A stream that resumes by itself leaves none.
 * L3 A stream that cannot be opened is tried again, later each time; `probe` finds out whether the session is why.
 */
import type { ReviewFrame, StreamFrame } from '@countersign/contracts';

export type StreamState = 'connecting' | 'live' | 'down';

export type StreamNews = { kind: 'frame'; frame: ReviewFrame } | { kind: 'gap' } | { kind: 'state'; state: StreamState };

const ADDRESS = '/api/v1/events/stream';
const NAME = 'countersign.stream';
const DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

export class ReviewStream {
  readonly #channel: BroadcastChannel | null;
  readonly #over = new AbortController();
  #source: EventSource | null = null;
  #state: StreamState = 'connecting';
  #leading = false;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param probe asks whether the session still stands; resolves either way.
   * @param tell what happened, in this tab or the one that holds the stream.
   */
  constructor(
    private readonly probe: () => Promise<void>,
    private readonly tell: (news: StreamNews) => void,
  ) {
    const shared = 'locks' in navigator && typeof BroadcastChannel === 'function';
    this.#channel = shared ? new BroadcastChannel(NAME) : null;
    if (!this.#channel) {
      this.#lead();
      return;
    }
    this.#channel.onmessage = ({ data }: MessageEvent<StreamNews | { kind: 'hello' }>) => {
      if (data.kind !== 'hello') this.tell(data);
      else if (this.#leading) this.#channel?.postMessage({ kind: 'state', state: this.#state });
    };
    this.#channel.postMessage({ kind: 'hello' });
    const { signal } = this.#over;
    navigator.locks
      .request(NAME, { signal }, () => {
        this.#lead();
        return new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
      })
      .catch(() => {
        // Closed before the lock was ours.
      });
  }

  close(): void {
    this.#over.abort();
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#channel?.close();
  }

  #lead(): void {
    if (this.#over.signal.aborted) return;
    this.#leading = true;
    this.#connect();
  }

  #connect(): void {
    const source = new EventSource(ADDRESS);
    let fresh = true;
    this.#source = source;
    source.onopen = () => {
      this.#failures = 0;
      if (fresh) this.#say({ kind: 'gap' });
      fresh = false;
      this.#enter('live');
    };
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const frame = JSON.parse(data) as StreamFrame;
      if (frame.type === 'reset') this.#say({ kind: 'gap' });
      else if (frame.type !== 'open') this.#say({ kind: 'frame', frame });
    };
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) {
        this.#enter('connecting');
        return;
      }
      this.#enter('down');
      void this.#again();
    };
  }

  async #again(): Promise<void> {
    await this.probe();
    if (this.#over.signal.aborted) return;
    const delay = DELAYS_MS[Math.min(this.#failures++, DELAYS_MS.length - 1)];
    this.#retry = setTimeout(() => this.#connect(), delay);
  }

  #enter(state: StreamState): void {
    this.#state = state;
    this.#say({ kind: 'state', state });
  }

  #say(news: StreamNews): void {
    this.tell(news);
    this.#channel?.postMessage(news);
  }
}
