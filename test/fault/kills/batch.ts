/** Kills under load, one after the other and at times two at once; then the load ends, everything comes to rest, and the record is judged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@countersign/platform/fixture';
import { Chance } from '../../model/world/chance.js';
import type { Fault, History } from '../judge/history.js';
import { judge, sentence } from '../judge/judge.js';
import { recorded } from '../traffic/recorded.js';
import { WINDOW } from '../traffic/stories.js';
import { Traffic } from '../traffic/traffic.js';
import { chosen, type Stage } from './stage.js';

/** Answers between two kills, at most; and milliseconds after the last of them, so that it falls into any part of a request. */
const APART = { answers: 40, ms: 15 };
const TWO_AT_ONCE = 0.15;
/** What is still on its way after this long, in milliseconds, does not come any more. */
const PATIENCE_MS = 60_000;
const SHOWN = 30;

export interface Outcome {
  /** Times each kind of process was killed. */
  kills: Record<string, number>;
  reviews: number;
  events: number;
  answers: number;
  /** Questions that had to be asked again. */
  unanswered: number;
  webhooks: number;
  frames: number;
}

/** @throws {Error} with everything the judge found, the seed and what was killed when. */
export async function playBatch(stage: Stage, { seed, kills }: { seed: number; kills: number }): Promise<Outcome> {
  const chance = new Chance(seed);
  const traffic = await Traffic.start(stage.server, seed);
  const killed: { name: string; at: string }[] = [];
  try {
    while (killed.length < kills) {
      await traffic.recorder.moves(1 + chance.int(APART.answers));
      await sleep(chance.int(APART.ms));
      const at = new Date().toISOString();
      const victims =
        stage.severalAtOnce && chance.yes(TWO_AT_ONCE)
          ? [chosen(stage.victims, chance), chosen(stage.victims, chance)]
          : [chosen(stage.victims, chance)];
      const names = await Promise.all([...new Set(victims)].map((victim) => victim.kill(chance, traffic)));
      killed.push(...names.flat().map((name) => ({ name, at })));
    }
    await stage.whole();
    await traffic.end();
    await traffic.advance(WINDOW + 1);
    const { history, faults } = await atRest(traffic);
    const wrong = [...traffic.broken.map((what) => `broken: ${what}`), ...faults.map(sentence)];
    if (wrong.length > 0) throw new Error(wrong.slice(0, SHOWN).join('\n'));
    return outcome(
      history,
      traffic,
      killed.map(({ name }) => name),
    );
  } catch (error) {
    const story = killed.map(({ name, at }) => `  ${at} ${name}`).join('\n');
    throw new Error(`FAULT_SEED=${seed}, ${stage.name}:\n${(error as Error).message}\nKilled:\n${story}`, { cause: error });
  } finally {
    await traffic.end().catch(() => {});
    await traffic.close();
  }
}

/** The record once nothing is wrong with it; or as it was when nothing had changed for long enough. */
export async function atRest(traffic: Traffic): Promise<{ history: History; faults: Fault[] }> {
  const { server } = traffic;
  let seen = '';
  let deadline = 0;
  for (;;) {
    await until('everybody to have handled everything', async () => {
      const [row] = await server.topology.query<{ rest: boolean }>(
        `select (select count(*) from event_store.timers where due_at <= event_store.now() and parked_at is null) = 0
            and (select min(position) from event_bus.cursors) >= (select position from event_store.head) as rest`,
      );
      return row?.rest;
    });
    const history = await recorded(traffic);
    const faults = judge(history);
    const last = faults.map(sentence).join('\n');
    if (last !== seen) deadline = Date.now() + PATIENCE_MS;
    seen = last;
    if (faults.length === 0 || Date.now() > deadline) return { history, faults };
    // The lease of an attempt whose process was killed ends by this clock.
    await traffic.advance(10);
    await sleep(250);
  }
}

function outcome({ facts, arrivals, frames }: History, { recorder }: Traffic, killed: readonly string[]): Outcome {
  const kills: Record<string, number> = {};
  for (const name of killed) kills[name] = (kills[name] ?? 0) + 1;
  return {
    kills,
    reviews: facts.filter(({ type }) => type === 'review.requested').length,
    events: facts.length,
    answers: recorder.answers.length,
    unanswered: recorder.unanswered,
    webhooks: arrivals.length,
    frames: frames.length,
  };
}
