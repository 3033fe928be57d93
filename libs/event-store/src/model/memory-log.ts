/**
 * The event store as a model: what `event_store.append` and the reads of it answer, in memory and one step at a time. Requests are checked by
 * the store's own `prepare`. `memory-log.int.spec.ts` holds it against PostgreSQL.
 *
 * M1 One append is one step, under the head's lock: judged and applied, or answered and nothing changed.
 * M2 What it leaves out changes no answer: hashes, which service may write what (K18), batches and their numbers (appender.ts G1 to G4).
 * M3 Bodies are frozen: a reader that changes what it read would change it for nobody in PostgreSQL, and fails here.
 */
import { createHash } from 'node:crypto';
import { type Categories, NO_LOWER_BOUND, NO_UPPER_BOUND, type PreparedRequest, prepare } from '../append/request.js';
import { bytesOf, idOf } from '../ids.js';
import { uuidText } from '../typeid.js';
import type { AppendRequest, AppendResult, DomainEvent, LoadedStream, ReadAll, StoredEvent } from '../types.js';

/** A due row (K7), as `event_store.timers` has it. Times are milliseconds since 1970. */
export interface TimerRow {
  stream: string;
  category: string;
  kind: string;
  project: string;
  dueAt: number;
  /** Position of the append that scheduled it. */
  generation: number;
  attempts: number;
  claimedUntil: number | null;
  parked: { at: number; reason: string } | null;
}

interface Stream {
  category: string;
  project: string;
  bucket: number;
  events: StoredEvent[];
}

export interface MemoryLogOptions {
  /** Category → prefix of its streams' ids. */
  categories: Record<string, string>;
  /** The database's clock: milliseconds since 1970. */
  now: () => number;
  validate?: (type: string, schemaVersion: number, body: unknown) => void;
}

const BUCKETS = 12;
/** As `event_store.bucket_of`. */
export const bucketOf = (stream: string): number => createHash('sha256').update(bytesOf(stream)).digest().readUInt32BE(0) % BUCKETS;

const iso = (ms: number): string => new Date(ms).toISOString();

export class MemoryLog {
  readonly events: StoredEvent[] = [];
  /** By `<stream> <kind>`. */
  readonly timers = new Map<string, TimerRow>();
  readonly now: () => number;
  readonly #categories: Categories;
  readonly #validate: MemoryLogOptions['validate'];
  readonly #streams = new Map<string, Stream>();
  readonly #holders = new Map<string, string>();
  readonly #keys = new Map<string, { inputHash: string; stream: string; version: number; position: number }>();
  readonly #bytes: number[] = [];
  #time = 0;

  constructor(options: MemoryLogOptions) {
    this.now = options.now;
    this.#validate = options.validate;
    this.#categories = {
      prefixes: options.categories,
      byPrefix: new Map(Object.entries(options.categories).map(([category, prefix]) => [prefix, category])),
    };
  }

  /** @throws {InvalidAppendError} as the store does; {Error} when a stream exists with another category or project. */
  append<E extends DomainEvent>(request: AppendRequest<E>): AppendResult {
    const prepared = prepare(request, this.#categories, this.#validate);
    const time = this.#nextTime();
    return this.#refusal(prepared, time) ?? this.#apply(prepared, time);
  }

  /** What `append` would answer now; null where it would append. */
  refusal(request: AppendRequest): AppendResult | null {
    return this.#refusal(prepare(request, this.#categories, this.#validate), this.#nextTime());
  }

  readStream<E extends DomainEvent>(stream: string, upToVersion = Number.POSITIVE_INFINITY): LoadedStream<E> {
    bytesOf(stream);
    const events = (this.#streams.get(stream)?.events ?? []).slice(0, upToVersion) as StoredEvent<E>[];
    return { events, version: events.length, project: events.at(-1)?.project ?? null, now: iso(Math.floor(this.now())) };
  }

  readAll({ after, limit, maxBytes = Number.POSITIVE_INFINITY, categories, project, bucket }: ReadAll): StoredEvent[] {
    const page: StoredEvent[] = [];
    let bytes = 0;
    for (let at = Math.max(0, after); at < this.events.length && page.length < limit; at++) {
      const event = this.events[at] as StoredEvent;
      if (categories && !categories.includes(event.category)) continue;
      if (project !== undefined && event.project !== project) continue;
      if (bucket && !bucket.includes(event.bucket)) continue;
      bytes += this.#bytes[at] as number;
      if (page.length > 0 && bytes > maxBytes) break;
      page.push(event);
    }
    return page;
  }

  head(): { position: number; now: string } {
    return { position: this.events.length, now: iso(this.now()) };
  }

  reservation(key: string): string | null {
    return this.#holders.get(key) ?? null;
  }

  idempotencyKey(scope: string, key: string): { stream: string; version: number; inputHash: string } | null {
    const kept = this.#keys.get(`${scope} ${key}`);
    return kept ? { stream: kept.stream, version: kept.version, inputHash: kept.inputHash } : null;
  }

  /** Events' time never runs behind an earlier position's. */
  #nextTime(): number {
    return Math.max(Math.floor(this.now()), this.#time);
  }

  #refusal(request: PreparedRequest, time: number): AppendResult | null {
    for (const part of request.parts) {
      const known = this.#streams.get(part.stream);
      if (known && (known.category !== part.category || known.project !== part.project))
        throw new Error('A stream of the batch exists with another category or project.');
    }
    for (const { scope, key, inputHash } of request.idempotency) {
      const kept = this.#keys.get(`${scope} ${key}`);
      if (!kept) continue;
      const { stream, version, position } = kept;
      // A command id names its input by itself.
      const same = scope === ':command' || kept.inputHash === inputHash;
      return same ? { status: 'repeated', stream, version, position } : { status: 'key_reused', stream, version };
    }
    for (const { stream, expected } of request.parts) {
      const currentVersion = this.#versionOf(stream);
      if (expected !== -1 && expected !== currentVersion) return { status: 'conflict', stream, currentVersion };
    }
    const streams = request.parts.map((part) => part.stream);
    for (const key of request.reserve) {
      const holder = this.#holders.get(key);
      const released = request.release.includes(key) && streams.includes(holder ?? '');
      if (holder !== undefined && holder !== streams[0] && !released) return { status: 'reserved', key, holder };
    }
    const us = BigInt(time) * 1000n;
    if (request.notAfter !== NO_UPPER_BOUND && request.notAfter <= us) return { status: 'too_late', now: iso(time) };
    if (request.notBefore !== NO_LOWER_BOUND && request.notBefore > us) return { status: 'too_early', now: iso(time) };
    return null;
  }

  #apply(request: PreparedRequest, ms: number): AppendResult {
    this.#time = ms;
    const time = iso(ms);
    const meta = frozen(JSON.parse(request.metaText));
    const streams = request.parts.map((part) => {
      const { stream, category, project } = part;
      let known = this.#streams.get(stream);
      if (!known && part.events.length > 0) {
        known = { category, project, bucket: bucketOf(stream), events: [] };
        this.#streams.set(stream, known);
      }
      const events = part.events.map((event): StoredEvent => {
        const { id, type, schemaVersion, bodyText } = event;
        const body = frozen(JSON.parse(bodyText));
        const { bucket, events } = known as Stream;
        const place = { position: this.events.length + 1, shard: 0, stream, category, version: events.length + 1, id, project, bucket };
        const stored: StoredEvent = { ...place, type, schemaVersion, time, body, redacted: false, meta };
        events.push(stored);
        this.events.push(stored);
        this.#bytes.push(Buffer.byteLength(bodyText) + Buffer.byteLength(request.metaText));
        return stored;
      });
      return { stream, version: this.#versionOf(stream), events };
    });
    const position = this.events.length;
    const first = streams[0] as (typeof streams)[number];
    for (const { scope, key, inputHash } of request.idempotency)
      this.#keys.set(`${scope} ${key}`, { inputHash, stream: first.stream, version: first.version, position });
    const released = request.parts.map((part) => part.stream);
    for (const key of request.release) if (released.includes(this.#holders.get(key) ?? '')) this.#holders.delete(key);
    for (const key of request.reserve) this.#holders.set(key, first.stream);
    this.#keepTimers(request, ms, position);
    return { status: 'appended', time, position, streams };
  }

  #keepTimers(request: PreparedRequest, ms: number, generation: number): void {
    for (const { rawStream, rawProject, category, kind, action, value } of request.timers) {
      const stream = idOf(this.#categories.prefixes[category] as string, uuidText(rawStream));
      if (action === 0) {
        this.timers.delete(`${stream} ${kind}`);
        continue;
      }
      const dueAt = (action === 1 ? ms : 0) + Number(value) / 1000;
      const project = idOf('prj', uuidText(rawProject));
      const row = { stream, category, kind, project, dueAt, generation, attempts: 0, claimedUntil: null, parked: null };
      this.timers.set(`${stream} ${kind}`, row);
    }
  }

  #versionOf(stream: string): number {
    return this.#streams.get(stream)?.events.length ?? 0;
  }
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}
