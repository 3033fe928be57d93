// What a package may be imported by, as the `exports` of its package.json say, each with the source it was built from.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} folder of a package
 * @returns {{ door: string, source: string }[]} such as `{ door: './fixture', source: 'src/review-fixture.ts' }`; its index where it names none
 */
export function doorsOf(folder) {
  const { exports = { '.': { default: './dist/index.js' } } } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(exports).map(([door, { default: built }]) => ({
    door,
    source: built.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'),
  }));
}
