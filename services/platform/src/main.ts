import { environment } from './environment.js';
import { runToEnd } from './run-to-end.js';
import { startServer } from './server.js';

const starting = startServer(environment(), (line) => process.stdout.write(`${line}\n`));
runToEnd(starting, { byNpm: environment().npm_lifecycle_event !== undefined });
