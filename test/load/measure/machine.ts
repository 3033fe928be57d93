import { execFileSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Machine {
  processor: string;
  cores: number;
  memory_gb: number;
  system: string;
  node: string;
}

/** What stood around a measurement. */
export interface Circumstances {
  at: string;
  /** Of the sources; "with changes" when they were not those of the commit. */
  commit: string;
  /** Processes that wanted to run, a minute's average. */
  load: number;
  /** How often a second 8 kB are written and forced to the disk that holds the data, one after another. */
  fsync_per_s: number;
}

const ROOT = fileURLToPath(new URL(import.meta.filename.endsWith('.ts') ? '../../..' : '../../../..', import.meta.url));
const FSYNC_MS = 500;

export function machine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.versions.node,
  };
}

export function circumstances(): Circumstances {
  return { at: new Date().toISOString(), commit: commit(), load: Number(loadavg()[0]?.toFixed(2)), fsync_per_s: fsyncRate() };
}

function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  try {
    // The results themselves do not count: they change with every run.
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', ':!docs/performance.*') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}

function fsyncRate(): number {
  const path = join(tmpdir(), `countersign-fsync-${process.pid}`);
  const file = openSync(path, 'w');
  const block = Buffer.alloc(8_192, 1);
  try {
    const began = performance.now();
    let times = 0;
    for (; performance.now() - began < FSYNC_MS; times++) {
      writeSync(file, block, 0, block.length, 0);
      fdatasyncSync(file);
    }
    return Math.round(times / ((performance.now() - began) / 1_000));
  } finally {
    closeSync(file);
    rmSync(path, { force: true });
  }
}
