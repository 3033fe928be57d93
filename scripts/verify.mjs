// `npm run verify`: every check that needs nothing but the sources, one line each, all of them even when the first one fails.
import { readFileSync } from 'node:fs';
import { ROOT, run } from './run.mjs';

const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const checks = [
  ['format', 'biome', ['format', '.']],
  ['lint', 'npm', ['run', '--silent', 'lint:code']],
  // Builds: what a package exports beside its root is resolved where it was built.
  ['types', 'npm', ['run', '--silent', 'types']],
  ['layering', 'npm', ['run', '--silent', 'lint:layering']],
  ['contracts', 'npm', ['run', '--silent', 'contracts', '--', '--check'], scripts.contracts !== undefined],
  ['configuration', 'npm', ['run', '--silent', 'configuration', '--', '--check']],
  ['telemetry', 'npm', ['run', '--silent', 'telemetry', '--', '--check']],
  ['unit', 'npm', ['test', '--silent', '--', '--only=unit']],
];

let passed = 0;
const failed = [];
for (const [name, command, args, exists = true] of checks) {
  if (!exists) {
    failed.push(name);
    console.error(`✗ ${name}: package.json has no such script`);
    continue;
  }
  const started = Date.now();
  const { ok } = run(command, args, { quiet: true });
  console.log(`${ok ? '✓' : '✗'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (ok) passed += 1;
  else failed.push(name);
}
console.log(`${passed} passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}`);
process.exit(failed.length > 0 ? 1 : 0);
