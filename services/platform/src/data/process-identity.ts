import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a process began, as text that no later process with the same pid has; null when it is gone or the system does not say.
 * A pid alone is no proof of life: it is used again after a restart, and in a container it is nearly always the same one.
 */
export function startOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      // The command's name may hold spaces and parentheses; the fields after its last parenthesis are plain. The 22nd field is the start time.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') return null;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}:${fields[19]}`;
    }
    if (process.platform === 'win32') return null;
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

/** Whether the process that was seen with this pid and start still runs. */
export function isAlive(pid: number, start: string | null): boolean {
  if (pid === process.pid) return start === startOf(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = startOf(pid);
  if (now === null) return process.platform === 'win32';
  return start === null || start === now;
}
