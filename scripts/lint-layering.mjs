// Layering, by dependency-cruiser over the TypeScript sources.
//
// 1. A seeded tree (`layering-fixture/`) breaks every rule once: a rule that does not report there would not report anywhere, and fails.
// 2. The real tree: no violation, and a floor under the number of modules, because a parser that cannot read TypeScript finds none.
// 3. What the cruiser cannot see: an import of another package needs its row in package.json and in tsconfig references. Specs are left out:
//    they are checked after everything is built (tsconfig.spec.json), so that a library may be tested with what is built on it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import configuration, { forbidden } from '../.dependency-cruiser.mjs';
import { doorsOf } from './doors.mjs';
import { ROOT } from './run.mjs';

/** Folders of a tree that hold packages, as `libs/review`. */
function packagesOf(base) {
  const found = existsSync(join(base, 'contracts')) ? ['contracts'] : [];
  for (const group of ['libs', 'services']) {
    for (const name of readdirSync(join(base, group))) if (existsSync(join(base, group, name, 'src'))) found.push(`${group}/${name}`);
  }
  return found;
}

async function cruiseTree(base, folders) {
  // `exports` of the packages lead to what was built; the rules are about what was written.
  const alias = Object.fromEntries(
    packagesOf(base).flatMap((folder) =>
      doorsOf(join(base, folder)).map(({ door, source }) => [
        `@countersign/${folder.split('/').at(-1)}${door.slice(1)}$`,
        join(base, folder, source),
      ]),
    ),
  );
  const { output } = await cruise(
    folders,
    { ...configuration.options, baseDir: base, validate: true, ruleSet: { forbidden } },
    {
      alias,
      extensionAlias: { '.js': ['.ts', '.tsx', '.js'], '.mjs': ['.mjs'] },
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  );
  return output;
}

const faults = [];

const seeded = await cruiseTree(join(ROOT, 'scripts/layering-fixture'), ['contracts', 'libs', 'services']);
const reported = new Set(seeded.summary.violations.map((violation) => violation.rule.name));
for (const { name } of forbidden) {
  if (!reported.has(name)) faults.push(`Rule ${name} did not report the violation seeded for it in scripts/layering-fixture.`);
}

const packages = packagesOf(ROOT);
const real = await cruiseTree(ROOT, [...packages.map((folder) => `${folder}/src`), 'test']);
const ours = real.modules.filter((module) => /^(contracts|libs|services|test)\//.test(module.source));
if (ours.length < packages.length) {
  faults.push(`Only ${ours.length} modules were read in ${packages.length} packages: the parser does not see the sources.`);
}
for (const { rule, from, to, cycle } of real.summary.violations) {
  const path = cycle?.length ? [from, ...cycle.map((step) => step.name)].join(' → ') : `${from} → ${to}`;
  faults.push(`${rule.name}: ${path}\n    ${forbidden.find(({ name }) => name === rule.name).comment}`);
}

const packageOf = (path) => /^(contracts|test|(?:libs|services)\/[^/]+)\//.exec(path)?.[1];
const edges = new Map();
for (const { source, dependencies } of ours.filter((module) => !/\.spec\.tsx?$/.test(module.source))) {
  for (const { resolved } of dependencies) {
    const [from, to] = [packageOf(source), packageOf(resolved)];
    if (from && to && from !== to) edges.set(`${from} ${to}`, { from, to, example: source });
  }
}
for (const { from, to, example } of edges.values()) {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(ROOT, from, 'package.json'), 'utf8'));
  const name = `@countersign/${to.split('/').at(-1)}`;
  if (!dependencies[name] && !devDependencies[name]) faults.push(`${from}/package.json does not list ${name}, which ${example} imports.`);
  if (!existsSync(join(ROOT, from, 'tsconfig.json'))) continue;
  const { references = [] } = JSON.parse(readFileSync(join(ROOT, from, 'tsconfig.json'), 'utf8'));
  if (!references.some(({ path }) => join(ROOT, from, path) === join(ROOT, to))) {
    faults.push(`${from}/tsconfig.json does not reference ${to}, which ${example} imports: it would be built in the wrong order.`);
  }
}

if (faults.length > 0) {
  console.error(`Layering: ${faults.length} fault${faults.length === 1 ? '' : 's'}\n  ${faults.join('\n  ')}`);
  process.exit(1);
}
console.log(`Layering: ${ours.length} modules, ${forbidden.length} rules, each shown to report.`);
