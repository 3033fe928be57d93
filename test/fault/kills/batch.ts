/** Kills under load, one after the other and at times two at once; then the load ends, everything comes to rest, and the record is judged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../../model/world/chance.js';
import type { History } from '../judge/history.js';
import { sentence } from '../judge/judge.js';
import { atRest } from '../traffic/at-rest.js';
import { WINDOW } from '../traffic/stories.js';
import { Traffic } from '../traffic/traffic.js';
import { chosen, type Stage } from './stage.js';

/** Answers between two kills, at most; and milliseconds after the last of them, so that it falls into any part of a request. */
const APART = { answers: 40, ms: 15 };
const TWO_AT_ONCE = 0.15;
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
