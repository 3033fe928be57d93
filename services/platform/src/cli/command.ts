import type { Environment } from '@countersign/config';
import type { Connection } from './connection.js';
import { type ExitCode, failureLine, failureOf } from './failure.js';
import { type Output, outputTo } from './output.js';

export type Work = (connection: Connection, output: Output) => Promise<ExitCode>;

/** Loads what a command needs, connects, works, cleans up, and sets the exit code. */
export type Run = (name: string, load: () => Promise<Work>) => Promise<void>;

/** Loading is left to the moment it is needed: the services a command knows take longer to load than most commands take. */
export function runner(environment: Environment, json: () => boolean): Run {
  return async (name, load) => {
    try {
      const [work, { connect }] = await Promise.all([load(), import('./connection.js')]);
      const connection = await connect(`countersign ${name}`, environment);
      try {
        process.exitCode = await work(connection, outputTo(json()));
      } finally {
        await connection.teardown.run();
      }
    } catch (error) {
      const { exitCode, message, unexpected } = failureOf(error);
      process.exitCode = exitCode;
      process.stderr.write(failureLine(message, json()));
      if (unexpected && ['debug', 'trace'].includes(environment.LOG_LEVEL ?? '')) process.stderr.write(`${(error as Error).stack}\n`);
    }
  };
}
