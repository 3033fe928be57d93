// `npm run test:fault [-- <folder under test/fault>… | <option of npm test>…]`: the tests that break something while it works (docs/reliability.md).
//
//   FAULT_ROUNDS=1000 npm run test:fault -- kills   that many kills; broken off and started again it goes on behind the last whole batch
//   npm run test:fault -- --write                   puts what such a run wrote into docs/reliability.md
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ROOT, run } from './run.mjs';

const STAGES = ['in one process', 'as separate services'];
const PAGE = `${ROOT}docs/reliability.md`;
const TABLE = /(<!-- kills: [^\n]*-->\n)[\s\S]*?(<!-- \/kills -->)/;

const given = process.argv.slice(2);
if (given.includes('--write')) write();
else {
  const options = given.filter((argument) => argument.startsWith('-'));
  const folders = given.filter((argument) => !argument.startsWith('-'));
  const paths = folders.length === 0 ? ['/test/fault/'] : folders.map((folder) => `/test/fault/${folder}`);
  process.exit(run('node', ['scripts/test.mjs', ...paths, ...options]).status);
}

function write() {
  const page = readFileSync(PAGE, 'utf8');
  if (!TABLE.test(page)) throw new Error(`${PAGE} has no place for the kills.`);
  const rows = STAGES.map((stage) => ({ stage, batches: batchesOf(stage) })).filter(({ batches }) => batches.length > 0);
  if (rows.length === 0) {
    console.error('No long run was written: `FAULT_ROUNDS=1000 npm run test:fault -- kills` is one.');
    process.exit(1);
  }
  const head = '| the product | run | commit | kills | of | reviews | answers | asked again | webhooks | frames | batches with a fault |';
  const table = [head, head.replace(/[^|]+/g, '---'), ...rows.map(rowOf)].join('\n');
  writeFileSync(
    PAGE,
    page.replace(TABLE, (_, from, to) => `${from}\n${table}\n\n${to}`),
  );
}

function batchesOf(stage) {
  const file = `${ROOT}.fault/kills-${stage.replaceAll(' ', '-')}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

function rowOf({ stage, batches }) {
  const whole = batches.filter(({ failed }) => failed === undefined);
  const sum = (of) => whole.reduce((total, batch) => total + of(batch), 0);
  const names = [...new Set(whole.flatMap(({ kills }) => Object.keys(kills)))];
  const killed = names.map((name) => [name, sum(({ kills }) => kills[name] ?? 0)]).sort(([, one], [, other]) => other - one);
  const dates = batches.map(({ date }) => date.slice(0, 16).replace('T', ' ')).sort();
  return `| ${[
    stage,
    `${dates[0]} to ${dates.at(-1)}`,
    [...new Set(batches.map(({ commit }) => commit))].join(', '),
    killed.reduce((total, [, count]) => total + count, 0),
    killed.map(([name, count]) => `${name} ${count}`).join(', '),
    ...['reviews', 'answers', 'unanswered', 'webhooks', 'frames'].map((name) => sum((batch) => batch[name])),
    `${batches.length - whole.length} of ${batches.length}`,
  ].join(' | ')} |`;
}
