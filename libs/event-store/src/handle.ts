import { setTimeout as delay } from 'node:timers/promises';
import { Retryable } from '@countersign/database';
import type { AppendRequest, DomainEvent, EventMeta, EventStore, LoadedStream, StoredEvent, TimerSchedule } from './types.js';

/** Saying no is an ordinary outcome: a value with a stable code, told to the caller and, where it matters, recorded. */
export interface Refusal<Code extends string = string> {
  code: Code;
  message: string;
  param?: string;
  details?: unknown;
  /** Members that go into the error object beside the standard ones, such as `review`. */
  extra?: Record<string, unknown>;
}

/** What a pure decider answers. No events and no refusal means "already so". A refusal may come with events (a late attempt records the lapse). */
export interface Decision<E extends DomainEvent, Code extends string = string> {
  events: E[];
  refusal?: Refusal<Code>;
  schedule?: TimerSchedule[];
  cancel?: { stream: string; kind: string }[];
  reserve?: string[];
  release?: string[];
  notAfter?: string;
  notBefore?: string;
}

/** How a stream's events become state. */
export interface Fold<S, E extends DomainEvent> {
  initial(): S;
  evolve(state: S, event: StoredEvent<E>): S;
}

export interface Handled<S, Code extends string = string> {
  state: S;
  version: number;
  /** Empty when nothing was appended. */
  events: StoredEvent[];
  refusal?: Refusal<Code>;
  /** The append found its idempotency key or command id: `state` is what the first one led to. */
  repeated: boolean;
  /**
   * Position of the last event appended here; of the stream's last event where everything was already so: whoever asks again may never have
   * had the first answer, and their next list has it all the same (K14). 0 when neither.
   */
  position: number;
  /** Bucket of that event. */
  bucket?: number;
  /** The database's time when the command was judged. */
  now: string;
}

/** Lost races that are decided again before the caller hears of them (decision 24). */
const ATTEMPTS = 6;
const LONGEST_WAIT_MS = 200;

/** Many wrote to one stream at the same moment. It passes: an edge answers 503, a consumer tries the batch again. */
export class StreamBusyError extends Retryable {
  override readonly name = 'StreamBusyError';
  /** @param streams their ids, as a person reads them. */
  constructor(streams: string) {
    super(`${streams} moved during all ${ATTEMPTS} attempts to decide; nothing was appended. Try again.`);
  }
}

/** Those who lost together must not come back together: one of a batch wins, and the others would lose as often as there are of them. */
const apart = (attempt: number): Promise<void> => delay(Math.random() * Math.min(LONGEST_WAIT_MS, 5 * 2 ** attempt));

function newestOf(events: readonly StoredEvent[]): { position: number; bucket?: number } {
  const newest = events.at(-1);
  return newest ? { position: newest.position, bucket: newest.bucket } : { position: 0 };
}

/**
 * The one write path: load, decide, append; decide again when the stream moved or the clock passed a bound meanwhile.
 *
 * A `too_late` or `too_early` append is not an answer by itself: the command is judged once more with the newer time, so that
 * the decider states the refusal and its lapse (decision 25).
 * @throws {StreamBusyError} when the stream kept moving for all attempts.
 * @throws {Error} when a reservation is held by another stream and `onReserved` is absent.
 */
export async function handle<S, E extends DomainEvent, Code extends string = string>(
  store: EventStore,
  command: {
    stream: string;
    /** Project of a stream that may not exist yet; an existing one keeps its own. */
    project?: string;
    fold: Fold<S, E>;
    /** The id was made for this command: there is nothing to load, and `now` is empty. */
    fresh?: boolean;
    decide: (state: S, now: string) => Decision<E, Code>;
    /** A function where the labels come from the state the command leads to. */
    meta: EventMeta | ((before: S, events: readonly E[]) => EventMeta);
    idempotency?: AppendRequest['idempotency'];
    commandId?: string;
    /** Refusal for a reserved key another stream holds. */
    onReserved?: (key: string, holder: string) => Refusal<Code>;
    /** Refusal for an idempotency key that was used with other input. */
    onKeyReused?: (stream: string) => Refusal<Code>;
  },
): Promise<Handled<S, Code>> {
  const { fold } = command;
  for (let attempt = 1; ; attempt++) {
    const loaded: LoadedStream<E> = command.fresh
      ? { events: [], version: 0, project: null, now: '' }
      : await store.readStream<E>(command.stream);
    const state = loaded.events.reduce((s, e) => fold.evolve(s, e), fold.initial());
    const decision = command.decide(state, loaded.now);
    const unchanged = { state, version: loaded.version, events: [], position: 0, now: loaded.now };
    if (decision.events.length === 0) {
      // A refusal names no position: it may be told to somebody who may not know that there is a stream.
      return { ...unchanged, ...(decision.refusal ? { refusal: decision.refusal } : newestOf(loaded.events)), repeated: false };
    }

    const project = loaded.project ?? command.project;
    if (project === undefined) throw new Error(`Stream ${command.stream} does not exist and the command names no project for it.`);
    const result = await store.append<E>({
      streams: [{ stream: command.stream, project, expectedVersion: loaded.version, events: decision.events }],
      meta: typeof command.meta === 'function' ? command.meta(state, decision.events) : command.meta,
      reserve: decision.reserve,
      release: decision.release,
      schedule: decision.schedule,
      cancel: decision.cancel,
      notAfter: decision.notAfter,
      notBefore: decision.notBefore,
      idempotency: command.idempotency,
      commandId: command.commandId,
    });
    switch (result.status) {
      case 'appended': {
        const events = result.streams.flatMap((s) => s.events) as StoredEvent<E>[];
        return {
          state: events.reduce((s, e) => fold.evolve(s, e), state),
          version: loaded.version + events.length,
          events,
          refusal: decision.refusal,
          repeated: false,
          position: result.position,
          bucket: events.at(-1)?.bucket,
          now: result.time,
        };
      }
      case 'repeated': {
        const first = await store.readStream<E>(result.stream);
        return {
          state: first.events.reduce((s, e) => fold.evolve(s, e), fold.initial()),
          version: first.version,
          events: [],
          repeated: true,
          ...newestOf(first.events),
          now: first.now,
        };
      }
      case 'key_reused':
        if (command.onKeyReused) return { ...unchanged, refusal: command.onKeyReused(result.stream), repeated: false };
        throw new Error(`Idempotency key was used with other input by ${result.stream}, and the command names no refusal for it.`);
      case 'reserved':
        if (command.onReserved) return { ...unchanged, refusal: command.onReserved(result.key, result.holder), repeated: false };
        throw new Error(`Key ${result.key} is held by ${result.holder}, and the command names no refusal for it.`);
      case 'conflict':
      case 'too_late':
      case 'too_early':
        if (attempt >= ATTEMPTS) throw new StreamBusyError(command.stream);
        if (attempt > 1) await apart(attempt);
        break;
    }
  }
}
