import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ReviewStream, type StreamNews } from './review-stream.js';

/** Stands in for the network: a stream the test opens, breaks and speaks on. */
class Wire {
  static readonly CLOSED = 2;
  static all: Wire[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  constructor(readonly address: string) {
    Wire.all.push(this);
  }
  static get last(): Wire {
    return Wire.all.at(-1) as Wire;
  }
  open(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  say(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
  close(): void {
    this.readyState = Wire.CLOSED;
  }
}

describe('the stream of one tab', () => {
  const news: StreamNews[] = [];
  let probes = 0;
  let stream: ReviewStream;
  const kinds = () => news.splice(0).map((one) => (one.kind === 'state' ? one.state : one.kind));

  beforeEach(() => {
    jest.useFakeTimers();
    Object.assign(globalThis, { EventSource: Wire });
    // No other tabs: their sharing is tested in a browser that has some.
    Object.defineProperty(globalThis, 'navigator', { value: {}, configurable: true });
    Wire.all = [];
    news.length = 0;
    probes = 0;
    stream = new ReviewStream(
      async () => {
        probes++;
      },
      (one) => news.push(one),
    );
  });
  afterEach(() => {
    stream.close();
    jest.useRealTimers();
  });

  it('asks for everything to be read once it is open, and passes on what it is told', () => {
    expect(Wire.last.address).toBe('/api/v1/events/stream');
    Wire.last.open();
    expect(kinds()).toEqual(['gap', 'live']);
    const frame = { type: 'review.created', review_id: 'rev_1' };
    Wire.last.say({ type: 'open' });
    Wire.last.say(frame);
    expect(news.splice(0)).toEqual([{ kind: 'frame', frame }]);
  });

  it('leaves no gap when it resumes by itself', () => {
    Wire.last.open();
    kinds();
    Wire.last.fail(0);
    expect(kinds()).toEqual(['connecting']);
    Wire.last.open();
    expect(kinds()).toEqual(['live']);
    expect(Wire.all).toHaveLength(1);
  });

  it('asks for everything to be read where the server no longer knows the place', () => {
    Wire.last.open();
    kinds();
    Wire.last.say({ type: 'reset' });
    expect(kinds()).toEqual(['gap']);
  });

  it('that was refused asks whether the session stands, and tries again, later each time', async () => {
    for (const delay of [1_000, 2_000, 5_000]) {
      const tried = Wire.all.length;
      Wire.last.fail(Wire.CLOSED);
      expect(kinds()).toEqual(['down']);
      await jest.advanceTimersByTimeAsync(delay - 1);
      expect(Wire.all).toHaveLength(tried);
      await jest.advanceTimersByTimeAsync(1);
      expect(Wire.all).toHaveLength(tried + 1);
    }
    expect(probes).toBe(3);
    Wire.last.open();
    expect(kinds()).toEqual(['gap', 'live']);
    Wire.last.fail(Wire.CLOSED);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(Wire.all).toHaveLength(5);
  });

  it('that was closed is not tried again', async () => {
    Wire.last.fail(Wire.CLOSED);
    stream.close();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(Wire.all).toHaveLength(1);
  });
});
