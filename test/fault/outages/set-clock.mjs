// Loaded before a process (`--import set-clock.mjs?<folder>`): its wall clock is what the file <folder>/<service> says, in milliseconds beside the real one,
// from the moment the file is written. Everything JavaScript can know of the wall clock comes from Date; timers and `performance` go by the monotonic clock,
// which no machine sets. `libfaketime` would do the same from below, is on no machine by itself, and fakes the monotonic clock as well unless told not to.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = decodeURIComponent(new URL(import.meta.url).search.slice(1));
const service = /\/services\/(\w+)\/dist\/main\.js$/.exec(process.argv[1] ?? '')?.[1];

if (service !== undefined) {
  const file = join(folder, service);
  const real = Date;
  let beside = 0;
  const look = () => {
    try {
      beside = Number(readFileSync(file, 'utf8'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  };
  setInterval(look, 50).unref();
  const now = () => real.now() + beside;
  globalThis.Date = new Proxy(real, {
    construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
