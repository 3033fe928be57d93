import { ConfigError } from '@countersign/config';
import { InvalidArgumentError } from 'commander';
import { CannotStart } from '../cannot-start.js';
import type { Environment } from '../config.js';
import { type Connection, connect } from './connection.js';
import { type Output, outputTo } from './output.js';

/**
 * 0 done · 1 done, and what was looked for is not as it should be, or the command was refused · 2 called wrongly · 3 the data cannot be
 * worked on: no server, in use, damaged, not reachable. Anything else is a bug and shows its stack.
 */
export type ExitCode = 0 | 1 | 2 | 3;

export type Work = (connection: Connection, output: Output, environment: Environment) => Promise<ExitCode>;

/** Connects, works, cleans up, and sets the exit code. */
export type Run = (name: string, work: Work) => Promise<void>;

/** A rule said no: a sentence for the operator, exit code 1. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

export function runner(environment: Environment, json: () => boolean): Run {
  return async (name, work) => {
    try {
      const connection = await connect(`countersign ${name}`, environment);
      try {
        process.exitCode = await work(connection, outputTo(json()), environment);
      } finally {
        await connection.teardown.run();
      }
    } catch (error) {
      process.exitCode = error instanceof Refused ? 1 : 3;
      if (!(error instanceof CannotStart || error instanceof ConfigError || error instanceof Refused)) throw error;
      process.stderr.write(`${json() ? JSON.stringify({ error: { message: error.message } }) : error.message}\n`);
    }
  };
}

/** Parses an option that is a position in the log. */
export function position(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1) throw new InvalidArgumentError('A position is a whole number from 1.');
  return Number(text);
}
