import { validateEvent } from '@countersign/contracts';
import type { Decision, DomainEvent, Fold, StoredEvent } from '@countersign/event-store';

/** What a command led to. */
export interface Led<S, E extends DomainEvent, D extends Decision<E>> {
  decision: D;
  /** Types of the events, in order. */
  types: E['type'][];
  /** Body of the one event of that type. @throws {Error} when there is none, or more than one. */
  body<T extends E['type']>(type: T): Extract<E, { type: T }>['body'];
  refusal: D['refusal'];
  /** Code of the refusal, or null. */
  code: string | null;
  /** The story goes on with what happened. */
  next: Story<S, E>;
}

/** One stream as it is told: given facts, when a command comes, then what it leads to. No store and no clock of its own. */
export interface Story<S, E extends DomainEvent> {
  readonly state: S;
  readonly now: string;
  readonly events: readonly StoredEvent<E>[];
  /** Time passes. */
  after(seconds: number): Story<S, E>;
  /** Facts, all at the present time. */
  happened(...events: E[]): Story<S, E>;
  /**
   * Judges a command. Its events keep to their contracts, and its bounds of time hold as the store would hold them.
   * @throws {Error} when either does not.
   */
  when<D extends Decision<E>>(decide: (state: S, now: string) => D): Led<S, E, D>;
}

export interface Teller<S, E extends DomainEvent> {
  fold: Fold<S, E>;
  stream: string;
  project: string;
  /** ISO time the story begins at. */
  start?: string;
}

const START = '2026-11-30T09:00:00.000Z';

/** Event ids that tests can foresee: valid TypeIDs, the number in the last digits. */
const eventId = (version: number): string => `evt_${String(version).padStart(26, '0')}`;

export function given<S, E extends DomainEvent>(teller: Teller<S, E>): Story<S, E> {
  return tell(teller, teller.fold.initial(), [], teller.start ?? START);
}

function tell<S, E extends DomainEvent>(teller: Teller<S, E>, state: S, events: readonly StoredEvent<E>[], now: string): Story<S, E> {
  const { fold, stream, project } = teller;
  const store = (event: E, version: number): StoredEvent<E> => {
    const schemaVersion = event.schemaVersion ?? 1;
    const id = eventId(version);
    const category = stream.slice(0, stream.lastIndexOf('_'));
    const kept = { ...event, position: version, shard: 0, stream, category, version, id, project, bucket: 0, schemaVersion, time: now };
    return { ...kept, redacted: false, meta: {} } as unknown as StoredEvent<E>;
  };
  const happened = (...facts: E[]): Story<S, E> => {
    const stored = facts.map((fact, i) => store(fact, events.length + i + 1));
    return tell(teller, stored.reduce(fold.evolve, state), [...events, ...stored], now);
  };
  return {
    state,
    now,
    events,
    after: (seconds) => tell(teller, state, events, new Date(Date.parse(now) + seconds * 1000).toISOString()),
    happened,
    when: (decide) => {
      const decision = decide(state, now);
      for (const event of decision.events) validateEvent(event.type, event.schemaVersion ?? 1, event.body);
      if (decision.events.length > 0) {
        if (decision.notAfter !== undefined && now >= decision.notAfter)
          throw new Error(`Would be too late: ${now} ≥ ${decision.notAfter}`);
        if (decision.notBefore !== undefined && now < decision.notBefore) throw new Error(`Would be early: ${now} < ${decision.notBefore}`);
      }
      return {
        decision,
        types: decision.events.map((event) => event.type),
        body: (type) => {
          const [event, ...more] = decision.events.filter((candidate) => candidate.type === type);
          if (!event || more.length > 0) throw new Error(`Expected one ${type} among: ${decision.events.map((e) => e.type).join(', ')}`);
          return event.body as never;
        },
        refusal: decision.refusal,
        code: decision.refusal?.code ?? null,
        next: happened(...decision.events),
      };
    },
  };
}
