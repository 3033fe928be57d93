import type { History } from '../history.js';
import type { Stage } from '../stage.js';
import type { Facts } from './facts.js';

export interface Fault {
  check: string;
  what: string;
}

export interface Evidence {
  stage: Stage;
  history: History;
  reviews: Facts[];
}

/** Yields a sentence for each thing that is wrong. */
export type Check = (evidence: Evidence) => Iterable<string>;
