import { ANSWER_CHECKS } from './answers.js';
import type { Check, Evidence, Fault } from './check.js';
import { CONSUMER_CHECKS } from './consumers.js';
import { factsOf } from './facts.js';
import { REVIEW_CHECKS } from './reviews.js';
import { TIMER_CHECKS } from './timers.js';

export const CHECKS: Record<string, Check> = { ...REVIEW_CHECKS, ...ANSWER_CHECKS, ...CONSUMER_CHECKS, ...TIMER_CHECKS };

export function judge({ stage, history }: Pick<Evidence, 'stage' | 'history'>): Fault[] {
  const evidence = { stage, history, reviews: factsOf(stage.database.log.events) };
  return Object.entries(CHECKS).flatMap(([check, find]) => [...find(evidence)].map((what) => ({ check, what })));
}
