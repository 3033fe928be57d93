// What the tests use and npm does not bring. Where they run as root on Debian it is installed; elsewhere one sentence says how to get it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './run.mjs';

/** Where a program stands in PATH, if it does. */
export function programPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export const mayInstall = () => process.getuid?.() === 0 && programPath('apt-get') !== undefined;

/** Whether a package is there, or this is no Debian, where nobody can tell. */
export function hasPackage(name) {
  if (!programPath('dpkg-query')) return true;
  return / installed$/.test(spawnSync('dpkg-query', ['-W', `-f=\${Status}`, name], { encoding: 'utf8' }).stdout);
}

export function install(packages, purpose) {
  console.log(`Installing ${packages.join(' and ')} for ${purpose}…`);
  const options = { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  run('apt-get', ['update', '-q'], options);
  run('apt-get', ['install', '-q', '-y', '--no-install-recommends', ...packages], options);
}

/** Brings the programs that the README's examples are run with. What stays missing fails the test that runs it, in a sentence of its own. */
export function bringPrograms(...names) {
  const missing = names.filter((name) => !programPath(name));
  if (missing.length > 0 && mayInstall()) install(missing, 'the examples of the README');
}
