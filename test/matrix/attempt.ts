/** What is sent, and what must stay as it is when that is refused. */
export interface Attempt {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
  /** Instead of the actor's own. */
  headers?: Record<string, string>;
  /** A review or template that is the same afterwards when the attempt was refused. */
  untouched?: { review: string } | { template: string };
}
