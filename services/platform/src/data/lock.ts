/**
 * One process at a time works on a data directory. The lock is a file that names its holder, so that others can say who it is and the
 * operators' CLI can find a running server's database.
 *
 * L1. The file appears complete or not at all (written aside, then linked): nobody reads half a lock.
 * L2. A lock whose holder is gone is taken over; a holder is its pid and its start time, so a pid used again is not mistaken for it.
 * L3. Only one process at a time removes a stale lock, and looks again before it does: two starters cannot remove each other's.
 */
import { linkSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CannotStart, systemCode } from '../cannot-start.js';
import { readIfThere, writePrivate } from './files.js';
import { isAlive, startOf } from './process-identity.js';

export interface LockHolder {
  pid: number;
  start: string | null;
  /** What runs, as its user typed it: `npm start`, `countersign verify`. */
  command: string;
  /** Set by a server once it is ready: where it answers, and the owner's URL of its database. */
  url?: string;
  database_url?: string;
  /** It is on its way out: whoever wants the directory waits a moment. */
  ending?: true;
}

export interface Lock {
  /** Tells the CLI how to reach what this process runs. */
  publish(found: { url: string; database_url: string }): void;
  /** Lets the next one wait for this process instead of being refused. */
  announceEnd(): void;
  release(): void;
}

const FILE = 'lock.json';
const BREAKER = 'lock.breaking';
const BREAKER_MS = 5_000;

/** A little more than a server may take to drain. */
const ENDING_MS = 20_000;
const POLL_MS = 20;

/** The live holder of a data directory's lock, or null. */
export function lockHolder(dataDir: string): LockHolder | null {
  const holder = parse(readIfThere(join(dataDir, FILE)));
  return holder && isAlive(holder.pid, holder.start) ? holder : null;
}

/** @throws {CannotStart} when another process holds it. */
export async function takeLock(dataDir: string, command: string): Promise<Lock> {
  const path = join(dataDir, FILE);
  const patience = Date.now() + ENDING_MS;
  const own: LockHolder = { pid: process.pid, start: startOf(process.pid), command };
  const draft = join(dataDir, `${FILE}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    while (!tryLink(draft, path)) {
      const holder = lockHolder(dataDir);
      if (holder?.ending && Date.now() < patience) {
        await sleep(POLL_MS);
      } else if (holder) {
        throw new CannotStart(
          `${dataDir} is in use by \`${holder.command}\` (process ${holder.pid})${holder.url ? `, running at ${holder.url}` : ''}. ` +
            'Stop it first, or set DATA_DIR and PORT to run a second server.',
        );
      } else {
        await removeStale(dataDir);
      }
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    publish: (found) => writePrivate(path, JSON.stringify(Object.assign(own, found))),
    announceEnd: () => writePrivate(path, JSON.stringify(Object.assign(own, { ending: true }))),
    release: () => rmSync(path, { force: true }),
  };
}

function parse(text: string | null): LockHolder | null {
  if (text === null) return null;
  try {
    const holder = JSON.parse(text) as LockHolder;
    return Number.isInteger(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function removeStale(dataDir: string): Promise<void> {
  const breaker = join(dataDir, BREAKER);
  try {
    mkdirSync(breaker);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    const age = Date.now() - (statSync(breaker, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > BREAKER_MS) rmSync(breaker, { recursive: true, force: true });
    else await sleep(POLL_MS);
    return;
  }
  try {
    if (!lockHolder(dataDir)) rmSync(join(dataDir, FILE), { force: true });
  } finally {
    rmdirSync(breaker);
  }
}
