/**
 * Two groups of consumers, as the services have them: one keeps rows that are the fold of each stream (as audit does), one reacts, once for
 * each event, and by commands of its own (as webhooks and decisions do). What they do is written in the transaction of the batch.
 */
import { REVIEW_EVENTS, type ReviewEvent } from '@countersign/contracts';
import { type BatchContext, Retryable, type Subscription } from '@countersign/event-bus';
import type { StoredEvent } from '@countersign/event-store';
import { initial, onReview, reviewFold, unassign } from '@countersign/review';
import type { Effect, Row } from './database.js';
import type { Machine } from './machine.js';

/** A type only a newer release knows. */
export const ALIEN = 'review.from_the_future';
export const PROJECTION = 'projection';
export const REACTOR = 'reactor';

const TYPES = Object.keys(REVIEW_EVENTS);
/** What the reactor does not need. */
const LEFT = ['review.action_taken', 'review.reminded', 'review.archived', 'review.unarchived'];

export interface Troubles {
  /** Events the reactor cannot handle, by type; emptied when the fault is found. */
  poison: Set<string>;
  /** How likely a handler says that it cannot now, and may be asked again. */
  busy: number;
  /** Person who left the project: what they take is taken from them again. */
  leaver: string;
  /** Whether the newer release runs. */
  upgraded: boolean;
}

const effectsOf = (events: readonly StoredEvent[], { group, replay }: BatchContext): Effect[] =>
  events.map(({ stream, position, version, type }) => ({ group, stream, position, version, type, replay }));

async function project(events: StoredEvent[], context: BatchContext): Promise<void> {
  const streams = [...new Set(events.map((event) => event.stream))];
  const { rows } = await context.tx.query<Row>({ name: 'model.rows', text: 'model.rows', values: [streams] });
  const after = new Map(rows.map((row) => [row.stream, row]));
  for (const event of events as StoredEvent<ReviewEvent>[]) {
    const row = after.get(event.stream) ?? { stream: event.stream, version: 0, state: initial() };
    if (event.version <= row.version) continue;
    const state = (event.type as string) === ALIEN ? row.state : reviewFold.evolve(row.state, event);
    after.set(event.stream, { stream: event.stream, version: event.version, state });
  }
  await context.tx.query({ name: 'model.handled', text: 'model.handled', values: [effectsOf(events, context), [...after.values()]] });
}

async function react(machine: Machine, troubles: Troubles, events: StoredEvent[], context: BatchContext): Promise<void> {
  if (machine.world.chance.yes(troubles.busy)) throw new Retryable('Not now.');
  const bad = events.find((event) => troubles.poison.has(event.type));
  if (bad) throw new Error(`Nobody expected ${bad.type}.`);
  if (!context.replay) {
    for (const event of events as StoredEvent<ReviewEvent>[]) {
      if (event.type !== 'review.claimed' || event.body?.by.id !== troubles.leaver) continue;
      await onReview(machine.store, {
        review_id: event.stream,
        actor: { kind: 'system', id: 'departures' },
        caused_by: event.id,
        command_id: `unassign:${event.stream}:${event.id}`,
        decide: (state, now) => unassign({ person_id: troubles.leaver, reason: 'membership_ended' }, state, now),
      });
    }
  }
  await context.tx.query({ name: 'model.handled', text: 'model.handled', values: [effectsOf(events, context), []] });
}

export function subscriptionsOf(troubles: Troubles): (machine: Machine) => Subscription[] {
  return (machine) => {
    const categories = ['review'];
    const known = troubles.upgraded ? [...TYPES, ALIEN] : TYPES;
    const handles = known.filter((type) => !LEFT.includes(type));
    const batchSize = 1 + machine.world.chance.int(8);
    return [
      { group: PROJECTION, categories, handles: known, leaves: [], batchSize, onBatch: project },
      {
        group: REACTOR,
        categories,
        handles,
        leaves: LEFT,
        batchSize,
        onBatch: (events, context) => react(machine, troubles, events, context),
      },
    ];
  };
}
