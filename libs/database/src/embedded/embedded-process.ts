import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Whether a process is there. One that ended and was not collected by its parent is not: an orphan's parent is process 1, which in a
 * container may be a program that collects nobody.
 */
export function alive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The state follows the program's name, which is in brackets and may hold anything.
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return false;
  }
}

/** First and fourth line of `postmaster.pid`: process and port; until the server has written them, 0 and null. */
export async function readPostmasterPid(cluster: string): Promise<{ pid: number; port: number | null } | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  return { pid: Number.isInteger(pid) && pid > 0 ? pid : 0, port: Number.isInteger(port) && port > 0 ? port : null };
}

/** Whether a live process is the PostgreSQL of this cluster. A server works in its data folder; elsewhere than on Linux its command says which. */
export async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    return cwd === (await realpath(cluster));
  }
  if (process.platform === 'win32') return true;
  const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'command=']).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(cluster);
}

/** What was written to a log since it had `from` bytes; its last 2 KB. */
export async function lastLines(path: string, from: number): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  if (!file) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - 2048);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - start)), 0, Math.max(0, size - start), start);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Stops a server when this process ends. A signal that another listener handles is left to it (it will call `stop()` or exit);
 * otherwise the server is told to stop and the signal takes its ordinary course.
 * @returns undoes it.
 */
export function dieWithUs(pid: number): () => void {
  const end = () => {
    try {
      process.kill(pid, 'SIGINT');
    } catch {
      // It is gone already.
    }
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (process.listenerCount(signal) > 1) return;
    forget();
    end();
    process.kill(process.pid, signal);
  };
  const forget = () => {
    process.off('exit', end);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  process.once('exit', end);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return forget;
}
