import { environment } from '@countersign/config';
import { runToEnd } from '../run-to-end.js';
import { startServices } from './start-services.js';

const say = (line: string) => process.stdout.write(`${line}\n`);
const log = (line: string) => process.stderr.write(`${line}\n`);
runToEnd((signal) => startServices(environment(), { say, log, signal }), { byNpm: environment().npm_lifecycle_event !== undefined });
