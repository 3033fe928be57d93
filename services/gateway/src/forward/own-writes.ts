import { parseSeen, type Seen, seenToken } from '@countersign/http';

const MOST_CALLERS = 10_000;

/**
 * What each credential wrote in the last seconds, so that its next list has it without the client doing anything (K14). One position a bucket;
 * a client of several gateways sends the token itself, and then nothing here is used.
 */
export class OwnWrites {
  readonly #writes = new Map<string, Map<number, { position: number; until: number }>>();

  constructor(
    private readonly keepMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param token what a service answered in `Countersign-Seen`. */
  remember(caller: string, token: string | string[] | undefined): void {
    for (const { position, bucket } of parseSeen(token)) {
      const buckets = this.#writes.get(caller) ?? new Map();
      // Set again, so that the map's order is that of the last write.
      this.#writes.delete(caller);
      this.#writes.set(caller, buckets);
      const before = buckets.get(bucket)?.position ?? 0;
      buckets.set(bucket, { position: Math.max(before, position), until: this.now() + this.keepMs });
    }
    if (this.#writes.size > MOST_CALLERS) this.#forgetOldest();
  }

  /** The tokens to send with a read, or undefined. */
  of(caller: string): string | undefined {
    const recent: Seen[] = [];
    for (const [bucket, { position, until }] of this.#writes.get(caller) ?? []) if (until > this.now()) recent.push({ position, bucket });
    if (recent.length === 0) this.#writes.delete(caller);
    return recent.length === 0 ? undefined : recent.map(seenToken).join(',');
  }

  #forgetOldest(): void {
    for (const caller of this.#writes.keys()) {
      if (this.#writes.size <= MOST_CALLERS) return;
      this.#writes.delete(caller);
    }
  }
}
