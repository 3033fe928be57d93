// A clone that belongs to somebody else, or was installed by somebody else, may hold what this user cannot read. Found here it is one sentence;
// found later it is a module that does not exist, or a source that seems to have changed.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './run.mjs';

const { R_OK, X_OK } = constants;

/** The first file or folder of the sources, of what was built of them and of the installed packages that may not be read, or null. */
export function firstUnreadable() {
  if (process.getuid?.() === 0) return null;
  for (const name of ['scripts', 'contracts', 'libs', 'services']) {
    const found = firstIn(join(ROOT, name), Number.POSITIVE_INFINITY);
    if (found) return found;
  }
  // Packages are installed whole: that of each its folder may be read is enough, `@scope/name` among them.
  return firstIn(join(ROOT, 'node_modules'), 2);
}

function firstIn(folder, depth) {
  if (!existsSync(folder)) return null;
  if (!allowed(folder, R_OK | X_OK)) return folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && !allowed(path, R_OK)) return path;
    const found = entry.isDirectory() && entry.name !== 'node_modules' && depth > 0 ? firstIn(path, depth - 1) : null;
    if (found) return found;
  }
  return null;
}

function allowed(path, mode) {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
