import { type DomainEvent, type Fold, newId, type StoredEvent } from '@countersign/event-store';

/** For specs of deciders: events as the store would hold them, a second apart, and the state they lead to. */
export const START = '2026-01-01T00:00:00.000Z';

export function stored<E extends DomainEvent>(stream: string, project: string, events: readonly E[]): StoredEvent<E>[] {
  return events.map((event, index) => ({
    position: index + 1,
    shard: 0,
    stream,
    category: '',
    version: index + 1,
    id: newId('evt'),
    project,
    bucket: 0,
    type: event.type,
    schemaVersion: 1,
    time: new Date(Date.parse(START) + index * 1000).toISOString(),
    body: event.body,
    redacted: false,
    meta: {},
  })) as unknown as StoredEvent<E>[];
}

/** The state after some events. */
export function given<S, E extends DomainEvent>(fold: Fold<S, E>, events: readonly E[], stream = newId('prj'), project = stream): S {
  return stored(stream, project, events).reduce((state, event) => fold.evolve(state, event), fold.initial());
}
