/**
 * What the code under test has of time and chance is the world's: timers, clocks, random numbers. Everything of it that a process could tell
 * apart from the real thing comes from the seed.
 *
 * Ids are UUIDv7 and tell of chance only where two share a millisecond: with zeros for random bytes they rise with the world's clock, and
 * are the same whether a schedule runs alone or after others.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import type { Alarm, World } from './world.js';

let world: World | null = null;

/** The world the code under test lives in from now on; null = the real one. */
export function enter(next: World | null): void {
  world = next;
}

export function here(): World {
  if (world === null) throw new Error('No simulation is running.');
  return world;
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  random: Math.random,
  now: Date.now,
  performanceNow: performance.now.bind(performance),
  delay: promises.setTimeout,
  randomFillSync: crypto.randomFillSync,
  randomUUID: crypto.randomUUID,
  randomInt: crypto.randomInt,
};

const clock = (inWorld: World): number => inWorld.wall + (inWorld.current?.skewMs ?? 0);

const outside = {
  setTimeout: (ring: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    world ? world.alarm(world.current, ms, () => ring(...args)) : real.setTimeout(ring, ms, ...args),
  clearTimeout: (alarm?: Alarm) => {
    if (world && alarm && 'ring' in alarm) world.silence(alarm);
    else real.clearTimeout(alarm as unknown as NodeJS.Timeout);
  },
};

Object.assign(globalThis, outside);
Math.random = () => (world ? world.chance.next() : real.random());
Date.now = () => (world ? clock(world) : real.now());
performance.now = () => (world ? clock(world) : real.performanceNow());

Object.assign(promises, {
  setTimeout: (ms: number, value?: unknown, options?: object) => {
    if (world === null) return real.delay(ms, value, options);
    return new Promise((resolve) => outside.setTimeout(() => resolve(value), ms));
  },
});
Object.assign(crypto, {
  randomFillSync: (buffer: Uint8Array) => (world ? buffer.fill(0) : real.randomFillSync(buffer)),
  randomInt: (most: number) => (world ? world.chance.int(most) : real.randomInt(most)),
  randomUUID: () => {
    if (world === null) return real.randomUUID();
    const digits = Array.from({ length: 4 }, () =>
      here()
        .chance.int(2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
  },
});
syncBuiltinESMExports();
