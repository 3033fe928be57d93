/** Schedules in a process of their own: the simulation takes the place of time and chance for all that runs in it. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Fault } from './judge/check.js';

export interface Report {
  schedules: number;
  steps: number;
  events: number;
  wrong: { seed: number; faults: Fault[] } | null;
  /** How often each was answered, such as `act review_expired`, and each type of event appended. */
  said: Record<string, number>;
  types: Record<string, number>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A schedule leaves little that lasts: with room for several of them, collecting what is left costs half. */
const ROOMY = '--max-semi-space-size=64';
const LOADERS = ['./libs/testing/jest/source.mjs', './test/model/load.mjs'];
const LONGEST_OUTPUT = 64_000_000;
/** Code that turns in place never comes back to the simulation, which could tell: a turn of its schedules takes tenths of a second. */
const STUCK_MS = 180_000;

/** @param bug which of bugs.json is in the sources. */
export function played(options: string[], bug?: number): Promise<{ report: Report; output: string }> {
  const env = { ...process.env, NODE_OPTIONS: '', ...(bug === undefined ? {} : { MODEL_BUG: String(bug) }) };
  return new Promise((resolve, reject) => {
    const args = [ROOMY, ...LOADERS.flatMap((path) => ['--import', path]), 'test/model/run.ts', ...options];
    const child = execFile(process.execPath, args, { cwd: ROOT, env, maxBuffer: LONGEST_OUTPUT }, (error, stdout, stderr) => {
      clearTimeout(stuck);
      const lines = stdout.trimEnd().split('\n');
      try {
        resolve({ report: JSON.parse(lines.at(-1) as string) as Report, output: lines.slice(0, -1).join('\n') });
      } catch {
        reject(new Error(`The simulation ended without a report.\n${stdout.slice(-2_000)}\n${stderr.slice(-4_000)}`, { cause: error }));
      }
    });
    const stuck = setTimeout(() => child.kill('SIGKILL'), STUCK_MS);
    child.stderr?.on('data', () => stuck.refresh());
  });
}
