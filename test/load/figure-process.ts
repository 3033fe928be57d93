/** The process of one figure: opens its sides, has them do their rounds in turn, and says what they measured. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Round, Running, Sample } from './figure.js';
import { FIGURES } from './figures.js';
import { circumstances } from './measure/machine.js';
import { failureOf, type Result, resultOf } from './measure/result.js';
import { startSink } from './stage/sink.js';

export interface Order {
  name: string;
  rounds?: number;
  seconds?: number;
  minutes: number;
}
export type Said = { progress: string } | { result: Result };

const SECONDS = 5;
const ROUNDS = 5;

const say = (said: Said) => process.send?.(said);

async function measure(order: Order): Promise<Result> {
  const figure = FIGURES.find(({ name }) => name === order.name);
  if (figure === undefined) throw new Error(`There is no figure ${order.name}.`);
  const seconds = order.seconds ?? figure.seconds ?? SECONDS;
  const rounds = order.rounds ?? figure.rounds ?? ROUNDS;
  const measured = { ...circumstances(), seconds };
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const sink = await startSink();
  let running: Running | null = null;
  try {
    say({ progress: 'getting ready' });
    running = await figure.open({ folder, telemetry: sink.url, seconds, minutes: order.minutes, say: (progress) => say({ progress }) });
    const { sides, settle } = running;
    const names = Object.keys(sides);
    const turn = async (name: string, what: string): Promise<Sample> => {
      say({ progress: `${what}, ${name}` });
      await settle?.();
      return (sides[name] as Running['sides'][string]).round(seconds);
    };
    if (figure.warmUp !== false) for (const name of names) await turn(name, 'warming up');
    const done: Round[] = [];
    for (let nth = 0; nth < rounds; nth++) {
      const samples = new Map<string, Sample>();
      for (const at of names.keys()) {
        const name = names[(at + nth) % names.length] as string;
        samples.set(name, await turn(name, `round ${nth + 1} of ${rounds}`));
      }
      done.push(Object.fromEntries(names.map((name) => [name, samples.get(name) as Sample])));
    }
    return resultOf(figure, measured, done);
  } catch (error) {
    return failureOf(figure, measured, (error as Error).stack ?? String(error));
  } finally {
    for (const side of Object.values(running?.sides ?? {})) await side.close().catch(() => {});
    await running?.close().catch(() => {});
    await sink.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// Whoever asked is gone, or ended this on its way: what runs here ends with this process, and the folder goes.
process.on('disconnect', () => process.exit(1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
process.once('message', (order: Order) => {
  void measure(order).then((result) => process.send?.({ result }, () => process.exit(0)));
});
