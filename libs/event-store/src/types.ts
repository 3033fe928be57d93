/**
 * The vocabulary of the event store. It knows streams, events, reservations and timers, and no business word.
 *
 * Ids on this surface are TypeIDs (`rev_01k…`: prefix, `_`, UUIDv7 in lowercase Crockford base32); the database holds the raw uuid.
 * Times are ISO 8601 strings in UTC with millisecond precision, always the database's (decisions K8).
 */

/** Who caused an event, under which request. Kept beside the body, hashed by its own commitment. */
export interface EventMeta {
  actor?: { kind: 'agent' | 'person' | 'system'; id: string; label?: string };
  request_id?: string;
  correlation_id?: string;
  causation_id?: string;
  traceparent?: string;
  tracestate?: string;
  /** Routing hints for consumers that must not load the stream, such as `template_slug`. */
  labels?: Record<string, string>;
}

/** A fact as a decider states it. The body is JSON; durations, never wall times. */
export interface DomainEvent<Type extends string = string, Body = unknown> {
  type: Type;
  body: Body;
  /** Version of the body's schema; 1 when omitted. */
  schemaVersion?: number;
}

/** A fact as the store holds it. Distributes over unions, so `StoredEvent<A | B>` narrows on `type`. */
export type StoredEvent<E extends DomainEvent = DomainEvent> = E extends DomainEvent
  ? {
      /** Dense and gap-free in its shard, rising in commit order. */
      position: number;
      shard: number;
      /** TypeID of the stream. */
      stream: string;
      category: string;
      /** 1-based, dense within the stream. */
      version: number;
      /** `evt_…` */
      id: string;
      /** `prj_…`; INSTALLATION_PROJECT for the installation's own streams (K2). */
      project: string;
      /** Hash of the stream modulo the number of buckets (K11). */
      bucket: number;
      type: E['type'];
      schemaVersion: number;
      time: string;
      /** The parsed body; null when it was redacted (K4). */
      body: E['body'];
      redacted: boolean;
      meta: EventMeta;
    }
  : never;

/** One stream's part of an append. All parts of a request are appended, or none. */
export interface StreamAppend<E extends DomainEvent = DomainEvent> {
  stream: string;
  project: string;
  /** Version the writer decided on: 0 = the stream must not exist; `'any'` = no check. */
  expectedVersion: number | 'any';
  events: E[];
}

/** A due row the append keeps in step with its cause (K7). One row for each (stream, kind): scheduling replaces it. */
export interface TimerSchedule {
  stream: string;
  kind: string;
  /** Seconds after the time the append gives its events, or an absolute ISO time (for deadlines that were fixed earlier). */
  due: { inSeconds: number } | { at: string };
}

export interface AppendRequest<E extends DomainEvent = DomainEvent> {
  streams: StreamAppend<E>[];
  meta: EventMeta;
  /** Keys that must be unique over all streams (K5), held by the first stream of the request. A key it already holds is fine. */
  reserve?: string[];
  release?: string[];
  schedule?: TimerSchedule[];
  cancel?: { stream: string; kind: string }[];
  /** Refused `too_late` when the database's time, read under the head lock, is at or past it. */
  notAfter?: string;
  /** Refused `too_early` when the database's time is before it. */
  notBefore?: string;
  /** Same key and hash → `repeated`; same key, other hash → `key_reused`. Kept in the append's transaction. */
  idempotency?: { scope: string; key: string; inputHash: string };
  /** Deterministic id of a command sent by software (cause + purpose): the copy is answered `repeated`, nothing is appended. */
  commandId?: string;
}

export interface AppendedStream {
  stream: string;
  version: number;
  events: StoredEvent[];
}

export type AppendResult =
  | { status: 'appended'; time: string; position: number; streams: AppendedStream[] }
  | { status: 'repeated'; stream: string; version: number; position: number }
  | { status: 'key_reused'; stream: string; version: number }
  | { status: 'conflict'; stream: string; currentVersion: number }
  | { status: 'reserved'; key: string; holder: string }
  | { status: 'too_late' | 'too_early'; now: string };

export interface LoadedStream<E extends DomainEvent = DomainEvent> {
  events: StoredEvent<E>[];
  /** 0 when the stream does not exist. */
  version: number;
  /** `prj_…`, or null when the stream does not exist. */
  project: string | null;
  /** The database's time at the read. */
  now: string;
}

export interface VerifyReport {
  valid: boolean;
  verifiedFrom: number;
  verifiedTo: number;
  events: number;
  redacted: number;
  firstBad: { position: number; stream: string | null; reason: string } | null;
}

export interface ReadAll {
  after: number;
  /** Most events of a page. */
  limit: number;
  /** Ends the page before the event that takes its JSON past this many bytes; the first event always comes. With it, only an empty page is the end. */
  maxBytes?: number;
  categories?: string[];
  project?: string;
  bucket?: number[];
}

/** The port. `PostgresEventStore` is the implementation; `MemoryEventStore` is its model, for simulations (model/memory-log.ts). */
export interface EventStore {
  /** Batched with whatever else arrives while a batch is in flight; a stale request never fails its neighbours. */
  append<E extends DomainEvent>(request: AppendRequest<E>): Promise<AppendResult>;
  /** `upToVersion` folds history as it stood. */
  readStream<E extends DomainEvent = DomainEvent>(stream: string, options?: { upToVersion?: number }): Promise<LoadedStream<E>>;
  /** Committed events after a position in position order; the next page begins at the last position. */
  readAll(options: ReadAll): Promise<StoredEvent[]>;
  /** Position of the newest committed event, and the database's time. */
  head(): Promise<{ position: number; now: string }>;
  /** Stream that holds a reserved key, or null. */
  reservation(key: string): Promise<string | null>;
  /** Stream an idempotency key was first used for, or null. */
  idempotencyKey(scope: string, key: string): Promise<{ stream: string; version: number; inputHash: string } | null>;
  /** Recomputes every hash in a range of positions. `onProgress` is called with the number of events done. */
  verify(options?: { from?: number; to?: number; onProgress?: (done: number, total: number) => void }): Promise<VerifyReport>;
  close(): Promise<void>;
}
