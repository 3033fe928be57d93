/** What was measured, as a table for docs/performance.md. */
import { type Round, unitOf } from '../figure.js';
import type { Judged, Result, Results } from './result.js';
import { spreadOf } from './statistics.js';

const BEGIN = '<!-- figures: written by `npm run bench -- --write` -->';
const END = '<!-- /figures -->';
const VERDICTS: Record<Judged['verdict'], string> = { goal: 'goal', required: 'yes', missed: '**no**', shown: '' };

/** Three significant figures, thousands apart. */
export function number(value: number): string {
  if (value === 0) return '0';
  const decimals = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toLocaleString('en-US', { minimumFractionDigits: 0, maximumFractionDigits: decimals });
}

const withUnit = (value: number | undefined, unit: string) =>
  value === undefined ? '' : `${number(value)}${unit === '×' || unit === '/s' || unit === '' ? unit : ` ${unit}`}`;

function bound(claim: Judged, value: number | undefined): string {
  return value === undefined ? '' : `${claim.better === 'more' ? '≥' : '≤'} ${withUnit(value, claim.unit)}`;
}

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

function rowsOf(result: Result): string[] {
  if (result.failure !== undefined) return [row(result.title, 'not measured', '', '', '', '**no**')];
  return result.claims.map((claim, index) =>
    row(
      index === 0 ? result.title : '',
      claim.what,
      `${withUnit(claim.median, claim.unit)} (${number(claim.low)} to ${number(claim.high)})`,
      bound(claim, claim.required),
      bound(claim, claim.goal),
      VERDICTS[claim.verdict],
    ),
  );
}

/** `per_s 12,300 (11,900 to 12,800)` and so on, of one side over the rounds. */
function measuresOf(rounds: readonly Round[], side: string): string {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round[side] ?? {})))];
  return names
    .map((name) => {
      const { median, low, high } = spreadOf(rounds.flatMap((round) => round[side]?.[name] ?? []));
      const label = name === 'per_s' ? '' : `${name.replace(/_?(per_s|[a-z]+)$/, '').replaceAll('_', ' ')} `;
      return `${label}${number(median)}${unitOf(name)}${rounds.length > 1 ? ` (${number(low)} to ${number(high)})` : ''}`;
    })
    .join(', ');
}

function detailsOf(result: Result): string {
  const { at, commit, load, fsync_per_s, seconds } = result.measured;
  const sides = [...new Set(result.rounds.flatMap((round) => Object.keys(round)))];
  return [
    `### ${result.title}`,
    '',
    `\`npm run bench -- ${result.name}\`. ${result.topology}${result.beside === '' ? '' : ` Beside: ${result.beside}`}`,
    `${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, load ${load} before, ${number(fsync_per_s)} fsyncs/s, ${result.rounds.length} rounds of ${number(seconds)} s.`,
    '',
    ...(result.failure === undefined
      ? sides.map((side) => `- ${side}: ${measuresOf(result.rounds, side)}`)
      : [`Not measured: ${result.failure}`]),
  ].join('\n');
}

export function render({ machine, figures }: Results): string {
  return [
    BEGIN,
    `Machine: ${machine.processor}, ${machine.cores} cores, ${machine.memory_gb} GB, ${machine.system}, Node ${machine.node}.`,
    '',
    row('figure', 'what', 'median (lowest to highest)', 'required', 'goal', 'met'),
    row('---', '---', '---', '---', '---', '---'),
    ...figures.flatMap(rowsOf),
    '',
    ...figures.map((figure) => `${detailsOf(figure)}\n`),
    END,
  ].join('\n');
}

/** A document with the part between the marks replaced. @throws {Error} when it has no marks. */
export function replaced(document: string, results: Results): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md needs the lines ${BEGIN} and ${END}.`);
  return `${document.slice(0, begin)}${render(results)}${document.slice(end + END.length)}`;
}

/** For a terminal. */
export const summary = (results: Results): string =>
  [
    ...results.figures.map((figure) => `${detailsOf(figure)}\n`),
    ...results.figures.flatMap((figure) =>
      figure.claims.map(
        (claim) =>
          `${claim.verdict === 'missed' ? '✗' : '✓'} ${figure.name}: ${claim.what} ${withUnit(claim.median, claim.unit)} (${number(claim.low)} to ${number(claim.high)})` +
          `${claim.required === undefined ? '' : `, required ${bound(claim, claim.required)}`}${claim.goal === undefined ? '' : `, goal ${bound(claim, claim.goal)}`}`,
      ),
    ),
    ...results.figures.flatMap((figure) => (figure.failure === undefined ? [] : `✗ ${figure.name}: ${figure.failure}`)),
  ].join('\n');
