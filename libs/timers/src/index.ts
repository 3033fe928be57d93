export type { DueTimer, ParkedTimer } from './due-rows.js';
export { type DueOutcome, TimerLoop, type TimerLoopOptions } from './timer-loop.js';
