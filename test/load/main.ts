/**
 * `npm run bench [-- <figure>… --rounds=5 --seconds=5 --minutes=10 --json=<path> --write --check --list]`: measures the figures of
 * docs/performance.md, those whose name matches or all, each in processes of its own. `--write` keeps them in docs/performance.json and
 * renews the tables of docs/performance.md; `--check` ends with 1 where one misses what it requires.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Order, Said } from './figure-process.js';
import { FIGURES } from './figures.js';
import { machine } from './measure/machine.js';
import { replaced, summary } from './measure/render.js';
import { holds, merged, type Result, type Results } from './measure/result.js';

const EXTENSION = extname(import.meta.filename);
const ROOT = fileURLToPath(new URL(EXTENSION === '.ts' ? '../..' : '../../..', import.meta.url));
const PROCESS = join(import.meta.dirname, `figure-process${EXTENSION}`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    json: { type: 'string' },
    write: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

function stop(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

function amount(option: 'rounds' | 'seconds' | 'minutes'): number | undefined {
  const text = values[option];
  if (text !== undefined && !(Number(text) > 0)) stop(`--${option} must be a number above zero, not ${text}.`);
  return text === undefined ? undefined : Number(text);
}

async function run(order: Order): Promise<Result> {
  const child = fork(PROCESS);
  let result: Result | null = null;
  child.on('message', (said: Said) => {
    if ('result' in said) result = said.result;
    else process.stderr.write(`${order.name}: ${said.progress}\n`);
  });
  child.send(order);
  const [code] = await once(child, 'exit');
  return result ?? stop(`${order.name} ended with ${code} and no result.`);
}

if (values.list) {
  process.stdout.write(`${FIGURES.map(({ name, title }) => `${name.padEnd(24)}${title}`).join('\n')}\n`);
  process.exit(0);
}
for (const wanted of positionals)
  if (!FIGURES.some(({ name }) => name.includes(wanted))) stop(`No figure is called ${wanted}. \`--list\` names them.`);
const chosen = FIGURES.filter(
  ({ name }) =>
    positionals.length === 0 ||
    positionals.some((wanted) => name === wanted || (!FIGURES.some((one) => one.name === wanted) && name.includes(wanted))),
);
const results: Results = { machine: machine(), figures: [] };
for (const { name } of chosen) {
  const order = { name, rounds: amount('rounds'), seconds: amount('seconds'), minutes: amount('minutes') ?? 10 };
  results.figures.push(await run(order));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  if (values.write) keep(results);
}
process.stdout.write(`${summary(results)}\n`);
if (values.check && !results.figures.every(holds)) process.exitCode = 1;

function keep(fresh: Results): void {
  const kept = join(ROOT, 'docs/performance.json');
  const page = join(ROOT, 'docs/performance.md');
  const old = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as Results).figures : [];
  const all: Results = {
    machine: fresh.machine,
    figures: merged(
      old,
      fresh.figures,
      FIGURES.map(({ name }) => name),
    ),
  };
  writeFileSync(kept, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(page, replaced(readFileSync(page, 'utf8'), all));
}
