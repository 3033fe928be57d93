// `npm run bench`: builds, brings pgbench where it may, and measures (test/load/main.ts says how to ask).
import { install, mayInstall, programPath } from './debian.mjs';
import { run } from './run.mjs';

if (!run('node', ['scripts/build.mjs', '--if-needed']).ok || !run('tsc', ['-b', 'test']).ok) process.exit(1);
// Where it is missing and may not be installed, the figure that needs it fails and says how to get it.
if (!programPath('pgbench') && mayInstall()) install(['postgresql-contrib'], 'the figures');
process.exit(run('node', ['test/dist/load/main.js', ...process.argv.slice(2)]).status);
