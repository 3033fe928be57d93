/** K10 to K12 and the bus's own word: in order, once, nothing left out; what is parked waits with all that follows it. */
import { isDeepStrictEqual } from 'node:util';
import { initial, type ReviewState, reviewFold } from '@countersign/review';
import type { Effect } from '../world/database.js';
import { ALIEN, PROJECTION, REACTOR, subscriptionsOf } from '../world/groups.js';
import type { Machine } from '../world/machine.js';
import type { Check, Evidence } from './check.js';

type Group = { group: string; handles: Set<string>; parked: Map<string, { position: number }>; effects: Effect[] };
const known = new WeakMap<Evidence, Group[]>();

/** What a group handles, streams in which it waits, and from where; once for all checks. */
function groupsOf(evidence: Evidence): Group[] {
  const groups = known.get(evidence) ?? readGroups(evidence);
  known.set(evidence, groups);
  return groups;
}

function readGroups({ stage }: Evidence): Group[] {
  const { database, troubles, world } = stage;
  const subscriptions = subscriptionsOf(troubles)({ world } as Machine);
  return [PROJECTION, REACTOR].map((group) => ({
    group,
    handles: new Set(subscriptions.find((one) => one.group === group)?.handles),
    parked: new Map(database.bus.parkedOf(group).map((row) => [row.stream, row])),
    effects: database.effects.filter((effect) => effect.group === group),
  }));
}

export const CONSUMER_CHECKS = {
  *'every event takes effect once, in the order of its stream'(evidence) {
    for (const { group, effects } of groupsOf(evidence)) {
      const reached = new Map<string, number>();
      for (const { stream, position, replay, type } of effects) {
        if (replay) continue;
        const last = reached.get(stream) ?? 0;
        if (position <= last) yield `${group}: ${type} at ${position} of ${stream} after ${last}`;
        reached.set(stream, Math.max(last, position));
      }
    }
  },

  *'nothing is left out, and what is parked waits with all that follows'(evidence) {
    for (const { group, handles, parked, effects } of groupsOf(evidence)) {
      const done = new Set(effects.flatMap(({ position, replay }) => (replay ? [] : [position])));
      for (const { stream, events } of evidence.reviews) {
        const from = parked.get(stream)?.position ?? Number.POSITIVE_INFINITY;
        for (const { position, type } of events) {
          const handled = done.has(position);
          if (handles.has(type) && position < from && !handled) yield `${group}: ${type} at ${position} was left out`;
          if (position >= from && handled && !replayedBefore(effects, stream, from))
            yield `${group}: ${type} at ${position} went past the parked ${from}`;
          if (type === (ALIEN as string) && !handles.has(type) && position < from)
            yield `${group}: the unknown type at ${position} is not parked`;
        }
      }
    }
  },

  *'a replay repeats what was handled, in order'(evidence) {
    for (const { group, effects } of groupsOf(evidence)) {
      const done = new Set<number>();
      for (const { position, replay, type } of effects) {
        if (replay && !done.has(position)) yield `${group}: ${type} at ${position} came as a replay of what was never handled`;
        done.add(position);
      }
    }
  },

  *'the rows are the fold of their streams'({ stage, reviews }) {
    const parked = new Map(stage.database.bus.parkedOf(PROJECTION).map((row) => [row.stream, row.position]));
    for (const { stream, events } of reviews) {
      const from = parked.get(stream) ?? Number.POSITIVE_INFINITY;
      const read = events.filter((event) => event.position < from && (event.type as string) !== ALIEN);
      const state = read.reduce<ReviewState>(reviewFold.evolve, initial());
      const row = stage.database.rows.get(stream);
      if (!isDeepStrictEqual(row?.state ?? initial(), state)) yield `${stream} differs from its fold`;
    }
  },
} satisfies Record<string, Check>;

/** A key can be parked in a replay, at what had been handled before: what follows was handled, too. */
const replayedBefore = (effects: { stream: string; position: number; replay: boolean }[], stream: string, from: number): boolean =>
  effects.some((effect) => effect.stream === stream && !effect.replay && effect.position === from);
