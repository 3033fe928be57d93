import type { Truncated } from '@countersign/contracts';
import type { Told } from './bodies.js';

/** Most bytes of a body that carries values (HRP §7.3). What else is in one is far shorter. */
export const LARGEST_BODY = 1_048_576;

/**
 * The text of a body, which is what is sent on every attempt. One that is larger than 1 MB says where the review is instead of what is in it;
 * HRP leaves out the edit alone, but the values it came from would still be there.
 */
export function bodyText({ body }: Told, publicUrl: string): string {
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) <= LARGEST_BODY) return text;
  const { suggested_value: _s, approved_value: _a, edited_payload: _e, ...rest } = body as typeof body & Record<string, unknown>;
  const truncated: Truncated = {
    edited_payload: null,
    truncated: true,
    review_url: new URL(`/reviews/${body.review_id}`, publicUrl).href,
    message: `The values make this webhook larger than 1 MB and were left out. Read them with GET /api/v1/reviews/${body.review_id}.`,
  };
  return JSON.stringify({ ...rest, ...truncated });
}
