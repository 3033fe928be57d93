/**
 * `npm run contracts`: writes what is derived from the contracts. With `--check` it writes nothing, names each file that is missing, differs
 * or is left over, and fails.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
// The index declares every message before anything is generated.
import { errorPage } from '../index.js';
import { asyncApi } from './asyncapi.js';
import { schemaFiles } from './json-schema.js';
import { openApi } from './openapi.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CONTRACTS = join(ROOT, 'contracts');
const GENERATED = join(CONTRACTS, 'generated');
const EXAMPLES = join(CONTRACTS, 'examples');

function artefacts(): Map<string, string> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return new Map([
    ...[...schemaFiles()].map(([file, schema]): [string, string] => [join(GENERATED, file), json(schema)]),
    [join(GENERATED, 'openapi.json'), json(openApi(EXAMPLES, version))],
    [join(GENERATED, 'asyncapi.json'), json(asyncApi(EXAMPLES, version))],
    [join(ROOT, 'docs', 'errors.md'), errorPage()],
  ]);
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const wanted = artefacts();
const stale = [...wanted].filter(([path, text]) => read(path) !== text).map(([path]) => path);
const leftOver = filesBelow(GENERATED).filter((path) => !wanted.has(path));
const named = (path: string) => relative(ROOT, path).split(sep).join('/');

if (process.argv.includes('--check')) {
  for (const path of stale) process.stderr.write(`${named(path)} is out of date.\n`);
  for (const path of leftOver) process.stderr.write(`${named(path)} belongs to no contract and should be deleted.\n`);
  if (stale.length + leftOver.length > 0) {
    process.stderr.write('Run `npm run contracts` and commit the result.\n');
    process.exitCode = 1;
  } else {
    process.stdout.write(`Contracts: ${wanted.size} generated files are up to date.\n`);
  }
} else {
  for (const path of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted.get(path) as string);
  }
  for (const path of leftOver) rmSync(path);
  process.stdout.write(`Contracts: ${stale.length} written, ${leftOver.length} removed, ${wanted.size} in all.\n`);
}
