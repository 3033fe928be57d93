import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { type Outcome, playBatch } from './batch.js';
import { batches, commit, done, isLong, write } from './rounds.js';
import type { Stage } from './stage.js';

/** Milliseconds a kill may take with all that follows from it, on a machine that is busy with others. */
const A_KILL_MS = 30_000;

export function playKills(name: string, start: () => Promise<Stage>, { share, size }: { share: number; size: number }): void {
  jest.setTimeout(120_000 + size * A_KILL_MS);

  const all = batches(share, size);
  const past = new Set(isLong ? done(name).flatMap((batch) => ('failed' in batch ? [] : [batch.seed])) : []);
  const left = all.filter(({ seed }) => !past.has(seed));
  let stage: Stage | null = null;
  afterAll(() => stage?.stop());

  describe(`the product, ${name}, under load`, () => {
    for (const batch of left) {
      it(`loses, doubles, reorders and forks nothing, and tells everybody the same, through ${batch.kills} kills (seed ${batch.seed})`, async () => {
        stage ??= await start();
        const began = Date.now();
        const note = (said: Outcome | { failed: string }) => {
          const [date, seconds] = [new Date(began).toISOString(), Math.round((Date.now() - began) / 1000)];
          if (isLong) write(name, { ...said, seed: batch.seed, date, commit: commit(), seconds });
        };
        const outcome = await playBatch(stage, batch).catch((error: Error) => {
          note({ failed: error.message });
          throw error;
        });
        past.add(batch.seed);
        note(outcome);
        expect(Object.values(outcome.kills).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(batch.kills);
        // A load that went through without a break, or told nobody anything, would have shown nothing.
        for (const moved of [outcome.unanswered, outcome.webhooks, outcome.frames, outcome.reviews - batch.kills])
          expect(moved).toBeGreaterThan(0);
      });
    }

    it(`has come through all ${all.length * size} kills`, () => {
      expect(all.filter(({ seed }) => !past.has(seed))).toEqual([]);
    });
  });
}
