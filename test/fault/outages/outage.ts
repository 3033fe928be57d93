/** An outage, told from begin to end: work is under way, something breaks, it is mended, everything catches up; then the record is judged. */
import { expect } from '@jest/globals';
import type { Server } from '../../e2e/server.js';
import { sentence } from '../judge/judge.js';
import { atRest } from '../traffic/at-rest.js';
import { Traffic } from '../traffic/traffic.js';

/** Answers before anything breaks, and after it is mended. */
const ENOUGH = 30;
/** Complaints that are printed. */
const SHOWN = 5;

let seed = 0;

/**
 * @param breaks what happens while work is under way; when it has come back, everything must work again by itself.
 * @returns how many questions were refused: each by 503 with `Retry-After`, or this throws.
 */
export async function outage(server: Server, breaks: (traffic: Traffic) => Promise<void>): Promise<number> {
  const traffic = await Traffic.start(server, ++seed);
  try {
    await traffic.recorder.moves(ENOUGH);
    await breaks(traffic);
    await traffic.recorder.moves(ENOUGH);
    await traffic.end();
    expect(traffic.broken.slice(0, SHOWN).map((words) => words.slice(0, 500))).toEqual([]);
    // Succeed, or say when to come again: nothing between.
    expect(traffic.recorder.refusals.filter(({ status, retryAfter }) => status !== 503 || !(Number(retryAfter) >= 1))).toEqual([]);
    const { faults } = await atRest(traffic);
    expect(faults.map(sentence)).toEqual([]);
    return traffic.recorder.unanswered;
  } finally {
    await traffic.end();
    await traffic.close();
  }
}
