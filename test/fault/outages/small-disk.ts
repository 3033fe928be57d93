/** A file system of a few hundred megabytes for a folder, that can be filled to the last byte. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
}

/** Why no file system can be mounted here; null where one can be. */
export function whyNoDisk(): string | null {
  if (process.platform !== 'linux') return 'only Linux has a file system in memory';
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'));
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'countersign', folder);
    run('umount', folder);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmdirSync(folder);
  }
}

export class SmallDisk {
  readonly #ballast: string;

  private constructor(private readonly folder: string) {
    this.#ballast = join(folder, 'ballast');
  }

  /** Mounts it on a folder that is there, with what is in it. */
  static under(folder: string, megabytes: number): SmallDisk {
    const kept = `${folder}.kept`;
    run('mv', folder, kept);
    run('mkdir', '-m', '711', folder);
    run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'countersign', folder);
    run('cp', '-a', `${kept}/.`, folder);
    rmSync(kept, { recursive: true });
    return new SmallDisk(folder);
  }

  /** Leaves no room. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    try {
      for (let size = 1 << 20; size >= 1; ) {
        const { bavail, bsize } = statfsSync(this.folder);
        if (bavail === 0) return;
        size = Math.min(size, bavail * bsize);
        writeSync(file, Buffer.alloc(size));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  }

  /** Gives the room back. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  remove(): void {
    run('umount', this.folder);
  }
}
