/** An older revision of this repository, built beside it on the packages that are installed here. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Packages of an older lock that are not installed here are missed when they are imported: then the revision is too old for this. */
export function builtRevision(revision: string, folder: string): { tree: string; remove(): void } {
  const tree = join(folder, 'revision');
  execFileSync('git', ['worktree', 'add', '--detach', tree, revision], { cwd: ROOT, stdio: 'ignore' });
  const packages = [
    'contracts',
    'test',
    ...['libs', 'services'].flatMap((group) => readdirSync(join(tree, group)).map((name) => `${group}/${name}`)),
  ];
  const own = join(tree, 'node_modules/@countersign');
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((name) => name !== '@countersign')) {
    symlinkSync(join(ROOT, 'node_modules', name), join(tree, 'node_modules', name));
  }
  for (const path of packages) {
    const name = path.split('/').at(-1) as string;
    if (path !== 'test') symlinkSync(join(tree, path), join(own, name));
    const installed = join(ROOT, path, 'node_modules');
    if (existsSync(installed)) symlinkSync(installed, join(tree, path, 'node_modules'));
  }
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-b', 'services/platform'], { cwd: tree, stdio: 'inherit' });
  return {
    tree,
    remove() {
      rmSync(tree, { recursive: true, force: true });
      execFileSync('git', ['worktree', 'prune'], { cwd: ROOT });
    },
  };
}
