import type { OperationId } from '@countersign/contracts';
import type { Rules } from './access.js';
import type { Actor, Cast } from './actors.js';
import type { Attempt } from './attempt.js';
import type { Stage } from './stage.js';

/** One thing that can be tried, and what comes of it for everybody. */
export interface Row extends Rules {
  tries: string;
  /** Sets the stage; called anew for each actor who is to succeed, and once for all others. */
  attempt(stage: Stage, actor: Actor, cast: Cast): Promise<Attempt> | Attempt;
  /** What a success says, and what it should say. */
  proves?(body: Record<string, unknown>, actor: Actor, cast: Cast): [said: unknown, due: unknown];
}

export type Rows = Readonly<Record<OperationId, readonly [Row, ...Row[]]>>;
