import { ConfigError } from '@countersign/config';
import { CannotStart } from './cannot-start.js';
import { whenOrphaned } from './parent.js';
import type { RunningServer } from './server.js';

/** A server that is still draining after this long is ended as it is; nothing committed is lost by that. */
const DRAIN_MS = 15_000;

/** npm passes a Ctrl-C on to a process that the terminal has told already; only a later one means it. */
const IMPATIENT_MS = 1_000;

/** It was told to end while it still started. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

/**
 * Lives as long as a server does and ends the process as it should end: 0 when it was told to and could finish what was under way, 1 with a
 * sentence when it could not start or cannot go on. A signal that comes while it still starts lets it finish the step it is at, so that nothing
 * is left half; the next start goes on from there.
 * @param start rejects with the signal's reason once that is aborted and what had been started is undone.
 * @param options.byNpm npm started it: end when npm is gone.
 */
export function runToEnd(start: (signal: AbortSignal) => Promise<RunningServer>, options: { byNpm: boolean }): void {
  let stoppedAt: number | null = null;
  const told = new AbortController();
  const starting = start(told.signal);
  const stop = async () => {
    if (stoppedAt !== null) {
      if (Date.now() - stoppedAt > IMPATIENT_MS) process.exit(1);
      return;
    }
    stoppedAt = Date.now();
    setTimeout(() => process.exit(1), DRAIN_MS).unref();
    told.abort(new Stopped());
    await starting.then((server) => server.stop()).catch(tell);
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
  if (options.byNpm) whenOrphaned(() => void stop());
  starting.then(
    async (server) => {
      tell(new CannotStart(await server.failed));
      server.abandon();
      process.exit();
    },
    async () => {
      if (stoppedAt === null) await stop();
    },
  );
}

function tell(error: unknown): void {
  if (error instanceof Stopped) {
    process.stdout.write('Stopped.\n');
    return;
  }
  const told = error instanceof CannotStart || error instanceof ConfigError;
  process.stderr.write(`${told ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
