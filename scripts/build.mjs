// A strict TypeScript build of everything the platform runs (what only tests use is checked by `npm run types`), then the packages that have
// a build step of their own (the inbox) through Nx, which keeps their result in .nx/cache and restores it when nothing it is made from has
// changed.
//
// `--if-needed` (npm start) does nothing when no source is newer than the last whole build: even builds that find nothing to do take seconds.
import { accessSync, constants, existsSync, globSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runOrExit } from './run.mjs';

const STAMP = join(ROOT, '.nx/built');
const INBOX = existsSync(join(ROOT, 'services/inbox/index.html'));
const RESULTS = ['services/platform/dist/main.js', ...(INBOX ? ['services/inbox/dist/index.html'] : [])];

function isUpToDate() {
  if (![STAMP, ...RESULTS.map((path) => join(ROOT, path))].every((path) => existsSync(path))) return false;
  const built = statSync(STAMP).mtimeMs;
  // Folders too: a file that was taken away leaves its trace there.
  const sources = globSync(['{contracts,libs,services,scripts}/**', '*.json'], {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path) || path.endsWith('.tsbuildinfo'),
  });
  return sources.every((path) => path.endsWith('.tsbuildinfo') || statSync(join(ROOT, path)).mtimeMs <= built);
}

if (!process.argv.includes('--if-needed') || !isUpToDate()) {
  try {
    accessSync(ROOT, constants.W_OK);
  } catch {
    console.error(`${ROOT} has to be built, and this user may not write to it: run \`npm run build\` there as its owner.`);
    process.exit(1);
  }
  console.log('Building …');
  const started = new Date();
  runOrExit('tsc', ['-b', 'services/platform']);
  if (INBOX) {
    const fresh = process.env.CI ? ['--skip-nx-cache'] : [];
    runOrExit('nx', ['run-many', '--targets=build', '--output-style=stream', ...fresh], { quiet: true });
  }
  mkdirSync(join(ROOT, '.nx'), { recursive: true });
  writeFileSync(STAMP, '');
  // What changed while it ran is newer than the build.
  utimesSync(STAMP, started, started);
}
