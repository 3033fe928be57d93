/**
 * How many kills there are, in which batches, and which of them are done. FAULT_ROUNDS asks for another number of kills; each batch of such a run is
 * written down when it ends, and a run that was broken off goes on behind what is written. FAULT_SEED begins with another seed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outcome } from './batch.js';

const SHORT = 100;
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? SHORT);
const SEED = Number(process.env.FAULT_SEED ?? 1);
const FOLDER = fileURLToPath(new URL('../../../.fault/', import.meta.url));

/** A batch as it is written down; one that failed says why, and is played again by the next run. */
export type Done = { seed: number; date: string; commit: string; seconds: number } & (Outcome | { failed: string });

export interface Batch {
  seed: number;
  kills: number;
}

/** `share` of all rounds, in batches of `size`; each has a seed of its own. */
export function batches(share: number, size: number): Batch[] {
  return Array.from({ length: Math.ceil((ROUNDS * share) / size) }, (_, n) => ({ seed: SEED + n, kills: size }));
}

const fileOf = (stage: string): string => `${FOLDER}kills-${stage.replaceAll(' ', '-')}.json`;

export function done(stage: string): Done[] {
  const file = fileOf(stage);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Done[]) : [];
}

/** Only a long run writes: the short one says by its exit what there is to say. */
export const isLong = ROUNDS > SHORT;

export function write(stage: string, batch: Done): void {
  const file = fileOf(stage);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify([...done(stage), batch], null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

export const commit = (): string =>
  execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: dirname(FOLDER), encoding: 'utf8' }).trim();
