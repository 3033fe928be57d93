import type { Review } from '@countersign/contracts';
import { type Server, ServerError } from './server.js';

/** Seconds a poll stays open at the server. */
const POLL_S = 30;
const RECONNECT_MS = 1_000;

/**
 * The review once it is no longer the `seen` one. Listens to the event stream, which costs nothing while nothing happens; polls when there is no stream.
 *
 * A frame is only a hint that something happened: the review itself is always read, so a missed frame costs time and never the answer.
 */
export async function waitForChange(server: Server, seen: Review, say: (line: string) => void): Promise<Review> {
  const changed = (now: Review) => now.status !== seen.status || now.current_version !== seen.current_version;
  const ended = new AbortController();
  try {
    for await (const frame of server.stream(ended.signal)) {
      if (frame.type !== 'open' && frame.type !== 'reset' && frame.review_id !== seen.id) continue;
      const { review } = await server.review(seen.id);
      if (changed(review)) return review;
    }
    say('The event stream ended; polling instead.');
  } catch (error) {
    say(`No event stream (${error instanceof Error ? error.message : String(error)}); polling instead.`);
  } finally {
    ended.abort();
  }
  return poll(server, seen, changed);
}

async function poll(server: Server, seen: Review, changed: (now: Review) => boolean): Promise<Review> {
  let etag = '';
  for (;;) {
    try {
      const answer = await server.review(seen.id, etag === '' ? undefined : { wait: POLL_S, etag });
      if (changed(answer.review)) return answer.review;
      etag = answer.etag;
    } catch (error) {
      // A server that restarts is worth waiting for; one that says no is not.
      if (error instanceof ServerError && error.status < 500 && error.status !== 429) throw error;
      await new Promise((resume) => setTimeout(resume, RECONNECT_MS));
    }
  }
}
