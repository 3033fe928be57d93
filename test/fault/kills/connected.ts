import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Which of some processes has a connection from a port of this machine; null where none has (any more). Linux tells. */
export function connectedFrom(port: number, pids: readonly number[]): number | null {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const connections = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const sockets = new Set(connections.filter(([, address]) => address?.endsWith(local)).map((columns) => `socket:[${columns[9]}]`));
  return pids.find((pid) => openFiles(pid).some((file) => sockets.has(file))) ?? null;
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
  } catch {
    // It, or the file, is gone meanwhile.
    return [];
  }
}
