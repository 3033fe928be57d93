import type { Review } from '@countersign/contracts';
import { type Station, StationError } from './station.js';

/** Seconds a poll stays open at the station. */
const POLL_S = 30;
const RECONNECT_MS = 1_000;

/**
 * The review once it is no longer the `seen` one. Listens to the event stream, which costs nothing while nothing happens; polls when there is no stream.
 *
 * A frame is only a hint that something happened: the review itself is always read, so a missed frame costs time and never the answer.
 */
export async function waitForChange(station: Station, seen: Review, say: (line: string) => void): Promise<Review> {
  const changed = (now: Review) => now.status !== seen.status || now.current_version !== seen.current_version;
  const ended = new AbortController();
  try {
    for await (const frame of station.stream(ended.signal)) {
      if (frame.type !== 'open' && frame.type !== 'reset' && frame.review_id !== seen.id) continue;
      const { review } = await station.review(seen.id);
      if (changed(review)) return review;
    }
    say('The event stream ended; polling instead.');
  } catch (error) {
    say(`No event stream (${error instanceof Error ? error.message : String(error)}); polling instead.`);
  } finally {
    ended.abort();
  }
  return poll(station, seen, changed);
}

async function poll(station: Station, seen: Review, changed: (now: Review) => boolean): Promise<Review> {
  let etag = '';
  for (;;) {
    try {
      const answer = await station.review(seen.id, etag === '' ? undefined : { wait: POLL_S, etag });
      if (changed(answer.review)) return answer.review;
      etag = answer.etag;
    } catch (error) {
      // A station that restarts is worth waiting for; one that says no is not.
      if (error instanceof StationError && error.status < 500 && error.status !== 429) throw error;
      await new Promise((resume) => setTimeout(resume, RECONNECT_MS));
    }
  }
}
