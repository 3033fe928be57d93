/** From rounds to what stands in docs/performance.json. */
import type { Claim, Figure, Round, Unit } from '../figure.js';
import type { Circumstances, Machine } from './machine.js';
import { type Spread, spreadOf } from './statistics.js';

export interface Judged extends Spread {
  what: string;
  unit: Unit;
  better: 'more' | 'less';
  required?: number;
  goal?: number;
  verdict: 'goal' | 'required' | 'missed' | 'shown';
}

export interface Result {
  name: string;
  title: string;
  topology: string;
  beside: string;
  measured: Circumstances & { seconds: number };
  claims: Judged[];
  rounds: Round[];
  /** Why there are no rounds. */
  failure?: string;
}

export interface Results {
  machine: Machine;
  figures: Result[];
}

export function judge(claim: Claim, rounds: readonly Round[]): Judged {
  const { what, unit, better, required, goal } = claim;
  const spread = spreadOf(rounds.map((round) => claim.value(round)));
  const reaches = (bound: number) => (better === 'more' ? spread.median >= bound : spread.median <= bound);
  const missed = required !== undefined && !reaches(required);
  const verdict = missed ? 'missed' : goal !== undefined && reaches(goal) ? 'goal' : required === undefined ? 'shown' : 'required';
  return { what, unit, better, required, goal, ...spread, verdict };
}

export function resultOf(figure: Figure, measured: Result['measured'], rounds: Round[]): Result {
  const { name, title, topology, beside } = figure;
  return { name, title, topology, beside, measured, claims: figure.claims.map((claim) => judge(claim, rounds)), rounds };
}

export function failureOf(figure: Figure, measured: Result['measured'], failure: string): Result {
  const { name, title, topology, beside } = figure;
  return { name, title, topology, beside, measured, claims: [], rounds: [], failure };
}

/** Whether everything that is required holds. */
export const holds = (result: Result): boolean =>
  result.failure === undefined && result.claims.every(({ verdict }) => verdict !== 'missed');

/** Results with newer ones in their places. @param order names of all figures there are; results of others go. */
export function merged(old: readonly Result[], fresh: readonly Result[], order: readonly string[]): Result[] {
  const all = new Map([...old, ...fresh].map((result) => [result.name, result]));
  return order.flatMap((name) => all.get(name) ?? []);
}
