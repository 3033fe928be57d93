// What a build is made from, as one digest: of contents and not of times, which a checkout, a copy or a restored cache changes for nothing.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

/** Made by a build, installed, or of no concern to one. */
const LEFT_OUT = /(^|\/)(node_modules|dist|coverage|examples|e2e|migrations)$|\.(md|sql|tsbuildinfo)$|\.spec\.tsx?$/;

export function digestOfSources() {
  const paths = globSync(['{contracts,libs,services}/**', 'scripts/*.mjs', '*.json'], {
    cwd: ROOT,
    exclude: (path) => LEFT_OUT.test(path),
  });
  const hash = createHash('sha256');
  for (const path of paths.sort()) {
    if (LEFT_OUT.test(path) || !statSync(join(ROOT, path)).isFile()) continue;
    hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex');
}
