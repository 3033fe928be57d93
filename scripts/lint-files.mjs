// What a file is called, how long it is, whether a pure file stays pure, and whether what its comments refer to exists (docs/development.md).
// Each check is first shown a case it must refuse.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const SMELL = 300;
const LIMIT = 500;

/** Files over the limit, each with the reason why splitting it would make it harder to read. */
const LONG = {};

const CODE = /\.(ts|tsx|mjs|js|sql|css)$/;
// Of libs/review only the way to the store is not pure: it loads, lets the rules decide, and appends.
const PURE = /^(libs\/review\/src\/(?!command\.ts).*|services\/[^/]+\/src\/.*decider)\.ts$/;
const SPEC = /\.(unit|int|e2e)\.spec\.tsx?$/;
/** A spec's whole name: what it needs beside PostgreSQL stands before its cost (scripts/test.mjs). */
const SPEC_NAME = /\/[^/.]+(\.(browser|kafka|python))*\.(unit|int|e2e)\.spec\.tsx?$/;

function faultsOfName(path) {
  const faults = [];
  if (/(^|\/)(utils?|helpers?|common|shared|misc)(\/|\.[^/]*$)/.test(path)) {
    faults.push(`${path}: name the file after what it does, not utils, helpers, common, shared or misc.`);
  }
  if (/\/index\.tsx?$/.test(path) && !/^(contracts|(libs|services)\/[^/]+)\/src\/index\.ts$/.test(path)) {
    faults.push(`${path}: index files are allowed only as a package's entry point (src/index.ts).`);
  }
  if (/\.spec\.tsx?$/.test(path) && !SPEC.test(path)) {
    faults.push(`${path}: a test must be named .unit.spec.ts, .int.spec.ts or .e2e.spec.ts; otherwise it does not run.`);
  }
  if (SPEC.test(path) && !SPEC_NAME.test(path)) {
    faults.push(`${path}: what a test needs is named browser, kafka or python; another name would leave it out nowhere.`);
  }
  return faults;
}

function faultsOfLength(path, text) {
  const lines = text.split('\n').length - 1;
  if (lines <= LIMIT || LONG[path]) return [];
  return [`${path}: ${lines} lines. Split it, or add it to LONG in scripts/lint-files.mjs with a reason (limit ${LIMIT}).`];
}

function faultsOfPurity(path, text) {
  if (!PURE.test(path) || SPEC.test(path)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bcrypto\.|\bprocess\.|\bawait\b|\bfetch\(/.exec(code);
  return impure ? [`${path}: \`${impure[0]}\` is not allowed in pure rules; pass time and randomness as arguments.`] : [];
}

/** Numbers of the rows in docs/decisions.md: `7`, `K4`. */
const rowsOf = (text) => new Set([...text.matchAll(/^\| (K?\d+) \|/gm)].map(([, row]) => row));

/** Rows of docs/decisions.md that a text refers to: `decision 7`, `decisions 8, 17`, `decisions 2 and 17`, `K4`. */
function referencesIn(text) {
  const numbers = [...text.matchAll(/\bdecisions? (\d+(?:(?:, | and |–)\d+)*)/g)].flatMap(([, list]) => list.split(/, | and |–/));
  return [...new Set([...numbers, ...[...text.matchAll(/\bK\d{1,2}\b/g)].map(([row]) => row)])];
}

function faultsOfReferences(path, text, rows) {
  return referencesIn(text)
    .filter((row) => !rows.has(row))
    .map((row) => `${path}: refers to decision ${row}, which docs/decisions.md does not have.`);
}

/** A file's comments name files that exist, by any end of their path. */
function faultsOfFileNames(path, text, paths) {
  const comments = text.match(/^\s*(?:\/\/|\*|\/\*|--).*$|\s\/\/\s.*$/gm) ?? [];
  return [...new Set(comments.join('\n').match(/(?<![\w*./-])[\w./-]*\w\.(?:ts|tsx|sql|mjs|md)\b/g) ?? [])]
    .map((name) => name.replace(/^(?:\.\.?\/)+/, ''))
    .filter((name) => !/^000\d_name\.sql$/.test(name) && !paths.some((other) => other === name || other.endsWith(`/${name}`)))
    .map((name) => `${path}: a comment names ${name}, which does not exist.`);
}

const mustRefuse = [
  faultsOfName('libs/one/src/utils.ts'),
  faultsOfName('services/one/src/helpers/text.ts'),
  faultsOfName('services/one/src/projections/index.ts'),
  faultsOfName('libs/one/src/thing.spec.ts'),
  faultsOfName('libs/one/src/thing.docker.int.spec.ts'),
  faultsOfLength('libs/one/src/long.ts', 'x\n'.repeat(LIMIT + 1)),
  faultsOfPurity('libs/review/src/commands/decide.ts', 'const now = Date.now();\n'),
  faultsOfPurity('services/one/src/key-decider.ts', 'await load();\n'),
  faultsOfReferences('libs/one/src/thing.ts', '// As decided (K99).\n', rowsOf('| K9 | x |\n')),
  faultsOfReferences('libs/one/src/thing.ts', '/** (decisions 8, 99) */\n', rowsOf('| 8 | x |\n')),
  faultsOfFileNames('libs/one/src/thing.ts', ' * See gone/thing.ts.\n', ['libs/one/src/thing.ts']),
];
if (mustRefuse.some((faults) => faults.length === 0))
  throw new Error('A check in scripts/lint-files.mjs no longer reports its seeded violation.');

const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path && !path.startsWith('scripts/layering-fixture/') && existsSync(join(ROOT, path)));
const sources = paths.filter((path) => CODE.test(path) && !/(^|\/)((generated|vectors)\/|schema\.sql$)/.test(path));
const rows = rowsOf(readFileSync(join(ROOT, 'docs/decisions.md'), 'utf8'));
const faults = paths.flatMap(faultsOfName);
const smells = [];
for (const path of sources) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  faults.push(
    ...faultsOfLength(path, text),
    ...faultsOfPurity(path, text),
    ...(path === 'scripts/lint-files.mjs' ? [] : faultsOfReferences(path, text, rows)),
    ...faultsOfFileNames(path, text, paths),
  );
  const lines = text.split('\n').length - 1;
  if (lines > SMELL) smells.push(`${path} (${lines})`);
}
for (const path of paths.filter((each) => each.endsWith('.md') && each !== 'docs/decisions.md'))
  faults.push(...faultsOfReferences(path, readFileSync(join(ROOT, path), 'utf8'), rows));
for (const path of Object.keys(LONG))
  if (!paths.includes(path)) faults.push(`scripts/lint-files.mjs allows ${path}, which does not exist.`);

if (smells.length > 0) console.log(`Files over ${SMELL} lines: ${smells.join(', ')}`);
if (faults.length > 0) {
  console.error(`Files: ${faults.length} error${faults.length === 1 ? '' : 's'}\n  ${faults.join('\n  ')}`);
  process.exit(1);
}
console.log(`Files: ${sources.length} source files checked.`);
