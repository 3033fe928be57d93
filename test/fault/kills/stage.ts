/** A running product with the means to kill any of its processes, and those it stands on, at any moment. */

import type { Server } from '../../e2e/server.js';
import type { Chance } from '../../model/world/chance.js';
import type { Traffic } from '../traffic/traffic.js';

export interface Victim {
  /** How often it is chosen, beside the others. */
  weight: number;
  /** SIGKILL, and what it takes for it to run again where nobody else sees to that. @returns the name of each process that was killed. */
  kill(chance: Chance, traffic: Traffic): Promise<string[]>;
}

export interface Stage {
  name: string;
  server: Server;
  victims: readonly Victim[];
  /** Whether two of them may be killed at once, each for itself. */
  severalAtOnce: boolean;
  /** Resolves when everything runs again. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

export function chosen(victims: readonly Victim[], chance: Chance): Victim {
  let left = chance.int(victims.reduce((sum, { weight }) => sum + weight, 0));
  return victims.find(({ weight }) => {
    left -= weight;
    return left < 0;
  }) as Victim;
}
