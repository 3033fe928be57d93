/** What processes cost, as the Linux kernel counts it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface Cost {
  /** Seconds of processor time since it was started. */
  cpu: number;
  /** MB: resident, and its share where pages are divided among those who use them. */
  rss: number;
  pss: number;
}

let ticks: number | undefined;
/** Of the kernel's clock, in a second. */
function clockTicks(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

export function costOf(pid: number): Cost {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(memory)?.[1]) / 1_024;
  return { cpu: (Number(user) + Number(system)) / clockTicks(), rss: mb('Rss'), pss: mb('Pss') };
}

/** A process and everything it has started. */
export function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [child: number, parent: number][] => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
      } catch {
        return [];
      }
    });
  const family = [pid];
  for (const member of family) family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child));
  return family;
}

/** @throws nothing: one that has ended meanwhile costs nothing. */
export function costOfAll(pids: readonly number[]): Cost {
  return pids.reduce<Cost>(
    (sum, pid) => {
      try {
        const { cpu, rss, pss } = costOf(pid);
        return { cpu: sum.cpu + cpu, rss: sum.rss + rss, pss: sum.pss + pss };
      } catch {
        return sum;
      }
    },
    { cpu: 0, rss: 0, pss: 0 },
  );
}
