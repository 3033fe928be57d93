import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiled code is kept from one start to the next, which saves a quarter of the start; a folder that cannot be written is no fault.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/countersign', import.meta.url)));
const { environment } = await import('@countersign/config');
const { runToEnd } = await import('./run-to-end.js');
const { startServer } = await import('./server.js');

const say = (line: string) => process.stdout.write(`${line}\n`);
runToEnd((signal) => startServer(environment(), { say, signal }), { byNpm: environment().npm_lifecycle_event !== undefined });
