import { ConfigError } from '@countersign/config';
import { CannotStart } from './cannot-start.js';
import { environment } from './config.js';
import { whenOrphaned } from './parent.js';
import { startServer } from './server.js';

/** A server that is still draining after this long is ended as it is; nothing committed is lost by that. */
const DRAIN_MS = 15_000;

/** npm passes a Ctrl-C on to a process that the terminal has told already; only a later one means it. */
const IMPATIENT_MS = 1_000;

const starting = startServer(environment(), (line) => process.stdout.write(`${line}\n`));
let stoppedAt: number | null = null;

async function stop(): Promise<void> {
  if (stoppedAt !== null) {
    if (Date.now() - stoppedAt > IMPATIENT_MS) process.exit(1);
    return;
  }
  stoppedAt = Date.now();
  setTimeout(() => process.exit(1), DRAIN_MS).unref();
  await starting.then((server) => server.stop()).catch(fail);
  process.exit();
}

function fail(error: unknown): void {
  const told = error instanceof CannotStart || error instanceof ConfigError;
  process.stderr.write(`${told ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
if (environment().npm_lifecycle_event !== undefined) whenOrphaned(() => void stop());
void starting
  .then(({ failed }) => failed)
  .then((sentence) => fail(new CannotStart(sentence)))
  .catch(() => {})
  .then(stop);
