// One strict TypeScript build of every package, then the packages that have a build step of their own (the inbox) through Nx, which keeps
// their result in .nx/cache and restores it when nothing they are made from has changed.
import { existsSync } from 'node:fs';
import { runOrExit } from './run.mjs';

runOrExit('tsc', ['-b']);
if (existsSync(new URL('../services/inbox/index.html', import.meta.url))) {
  const fresh = process.env.CI ? ['--skip-nx-cache'] : [];
  runOrExit('nx', ['run-many', '--targets=build', '--output-style=stream', ...fresh], { quiet: true });
}
