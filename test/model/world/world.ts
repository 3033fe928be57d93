/**
 * Time and order of a simulation.
 *
 * W1 What a process asks of the world outside it (its database, its brokers) is a step; nothing else happens until the code that waited for
 *    it has come to its next wait. Which step goes on, chance decides: so every order that a network and a scheduler can bring, can come.
 * W2 Time passes from step to step, and to the next alarm when there is nothing else; now and then although there is, as when a call hangs.
 * W3 The database's clock is the wall clock and an offset, as `event_store.now()` is; a process has a clock of its own, which may be wrong.
 */
import { setFlagsFromString } from 'node:v8';
import type { Chance } from './chance.js';

/** Whose step it is: a process that may be killed, and stopped for a while. */
export interface Owner {
  readonly name: string;
  readonly skewMs: number;
  stalledUntil: number;
}

interface Step {
  owner: Owner;
  what: string;
  free: (() => boolean) | undefined;
  go(): void;
}

export interface Alarm {
  owner: Owner | null;
  at: number;
  ring(): void;
}

export class Stuck extends Error {
  override readonly name = 'Stuck';
}

setFlagsFromString('--allow-natives-syntax');
/**
 * Runs every continuation that can go on, and those that follow from them, before it returns: the code that waited is at its next wait. Called
 * from a turn of the event loop, never from a continuation. A turn for each step instead costs eight times as much.
 */
const settle = new Function('%PerformMicrotaskCheckpoint()') as () => void;

const LONGEST_STEP_MS = 3;
const HANGS = 0.01;

export class World {
  readonly chance: Chance;
  /** Milliseconds since 1970. */
  wall: number;
  offset = 0;
  /** Whose code runs. */
  current: Owner | null = null;
  steps = 0;
  /** What happened, for whoever asks to see it. */
  trace: string[] | null = null;
  #steps: Step[] = [];
  #alarms: Alarm[] = [];

  constructor(chance: Chance, start: number) {
    this.chance = chance;
    this.wall = start;
  }

  get databaseNow(): number {
    return this.wall + this.offset;
  }

  step(owner: Owner, what: string, go: () => void, free?: () => boolean): void {
    this.#steps.push({ owner, what, go, free });
  }

  alarm(owner: Owner | null, ms: number, ring: () => void): Alarm {
    const alarm = { owner, at: this.wall + Math.max(0, ms), ring };
    this.#alarms.push(alarm);
    return alarm;
  }

  silence(alarm: Alarm): void {
    const at = this.#alarms.indexOf(alarm);
    if (at >= 0) this.#alarms.splice(at, 1);
  }

  /** The process is gone, and all that it waited for. */
  forget(owner: Owner): void {
    this.#steps = this.#steps.filter((step) => step.owner !== owner);
    this.#alarms = this.#alarms.filter((alarm) => alarm.owner !== owner);
  }

  /** @throws {Stuck} when it does not come to that within so many steps, or nothing can go on. */
  run(until: () => boolean, most: number): void {
    for (let n = 0; ; n++) {
      settle();
      if (until()) return;
      if (n >= most) throw new Stuck(`It has not come to an end within ${most} steps.`);
      this.#next();
    }
  }

  #next(): void {
    const { chance } = this;
    for (;;) {
      const due = this.#due();
      const step = this.#pick(due.length);
      const hangs = due.length === 0 && chance.yes(HANGS);
      if ((step === null && due.length === 0) || hangs) {
        const next = this.#nextTime();
        if (next !== null) {
          this.wall = next;
          continue;
        }
        if (step === null) throw new Stuck('Nothing can go on: everything waits for something else.');
      }
      this.wall += chance.int(LONGEST_STEP_MS);
      this.steps += 1;
      if (step) this.#go(step);
      else this.#ring(chance.pick(due));
      return;
    }
  }

  #due(): Alarm[] {
    const due: Alarm[] = [];
    for (const alarm of this.#alarms) if (alarm.at <= this.wall && (alarm.owner?.stalledUntil ?? 0) <= this.wall) due.push(alarm);
    return due;
  }

  /** A step that can go on, unless one of so many alarms has the turn. */
  #pick(alarms: number): Step | null {
    const steps = this.#steps;
    const at = this.chance.int(steps.length + alarms);
    if (alarms > 0 && at >= steps.length) return null;
    for (let n = 0; n < steps.length; n++) {
      const step = steps[(at + n) % steps.length] as Step;
      if (step.owner.stalledUntil <= this.wall && (step.free?.() ?? true)) return step;
    }
    return null;
  }

  /** When the next alarm rings or a stopped process goes on; null = never. */
  #nextTime(): number | null {
    let next = Number.POSITIVE_INFINITY;
    for (const { at, owner } of this.#alarms) next = Math.min(next, Math.max(at, owner?.stalledUntil ?? 0));
    for (const { owner } of this.#steps) if (owner.stalledUntil > this.wall) next = Math.min(next, owner.stalledUntil);
    return next > this.wall && next < Number.POSITIVE_INFINITY ? next : null;
  }

  #go(step: Step): void {
    this.#steps.splice(this.#steps.indexOf(step), 1);
    this.current = step.owner;
    this.trace?.push(`${this.#at()} ${step.owner.name}: ${step.what}`);
    step.go();
  }

  #ring(alarm: Alarm): void {
    this.silence(alarm);
    this.current = alarm.owner;
    alarm.ring();
  }

  #at(): string {
    return `${this.wall % 86_400_000} ${new Date(this.databaseNow).toISOString().slice(11, 23)}`;
  }
}
