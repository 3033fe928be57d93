/**
 * `npm run test:model [-- --schedules=N --seed=S --trace --without=PART]`: plays N schedules from a seed on, one seed each, and says what the
 * judge found, as one line of JSON. Ends at the first that is wrong, and tells it step by step with only the parts that it needs.
 */
import './world/outside.js';
import { parseArgs } from 'node:util';
import type { Outcome } from './simulate.js';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
  },
});
/** Schedules played in one turn. */
const A_TURN = 50;
const { simulate, smallest } = await import('./simulate.js');
// Errors are part of the play, and where they came from is told when one is played again.
Error.stackTraceLimit = 0;
const [schedules, first] = [Number(values.schedules), Number(values.seed)];
const totals = { schedules: 0, steps: 0, events: 0 };
const said = new Map<string, number>();
const types = new Map<string, number>();
const count = (of: Map<string, number>, name: string): void => void of.set(name, (of.get(name) ?? 0) + 1);

const last: { outcome: Outcome | null; wrong: Outcome | null } = { outcome: null, wrong: null };
const unhandled = (error: unknown): never => {
  process.stdout.write(
    `${JSON.stringify({ wrong: { seed: first + totals.schedules, faults: [{ check: 'nothing breaks', what: String((error as Error).stack) }] } })}\n`,
  );
  process.exit(1);
};
process.on('unhandledRejection', unhandled);
process.on('uncaughtException', unhandled);
/** A turn of the event loop for some schedules: between turns, rejections nobody handled come to light. */
const turn = (): Promise<void> =>
  new Promise((resolve) =>
    setImmediate(() => {
      process.stderr.write(`from seed ${first + totals.schedules}\n`);
      for (let n = 0; n < A_TURN && totals.schedules < schedules && last.wrong === null; n++, totals.schedules++) {
        const outcome = simulate(first + totals.schedules, { traced: values.trace, without: values.without });
        last.outcome = outcome;
        totals.steps += outcome.steps;
        totals.events += outcome.events;
        for (const name of outcome.said) count(said, name);
        for (const name of outcome.types) count(types, name);
        if (outcome.faults.length > 0) last.wrong = outcome;
      }
      resolve();
    }),
  );
while (totals.schedules < schedules && last.wrong === null) await turn();
const { outcome, wrong } = last;
const tell = (lines: readonly string[] | null): void => void process.stdout.write(`${(lines ?? []).join('\n')}\n`);
if (wrong) {
  setImmediate(() => {
    Error.stackTraceLimit = 10;
    const least = smallest(wrong);
    tell(least.outcome.trace);
    tell(least.outcome.faults.map(({ check, what }) => `${check}: ${what}`));
    const options = least.without.map((name) => ` --without='${name}'`).join('');
    tell([`npm run test:model -- --schedules=1 --seed=${wrong.seed}${options} --trace`]);
    end();
  });
} else {
  if (values.trace) tell(outcome?.trace ?? null);
  end();
}

function end(): void {
  const found = wrong && { seed: wrong.seed, faults: wrong.faults };
  tell([JSON.stringify({ ...totals, wrong: found, said: Object.fromEntries(said), types: Object.fromEntries(types) })]);
  process.exit(wrong ? 1 : 0);
}
