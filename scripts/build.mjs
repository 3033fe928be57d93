// A strict TypeScript build of everything the platform runs (what only tests use is checked by `npm run types`), then the packages that have
// a build step of their own (the inbox) through Nx, which keeps their result in .nx/cache and restores it when nothing it is made from has
// changed.
//
// `--if-needed` (npm start, npm run demo) does nothing when the sources are those of the last whole build: even builds that find nothing to do
// take seconds.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstUnreadable } from './readable.mjs';
import { ROOT, run } from './run.mjs';
import { digestOfSources } from './sources.mjs';

/** Holds the digest of the sources of the last whole build. */
const STAMP = join(ROOT, '.nx/built');
const INBOX = existsSync(join(ROOT, 'services/inbox/index.html'));
const RESULTS = ['services/platform/dist/main.js', ...(INBOX ? ['services/inbox/dist/index.html'] : [])].map((path) => join(ROOT, path));

const unreadable = firstUnreadable();
if (unreadable) {
  console.error(`${unreadable} cannot be read by this user. Run this as the owner of ${ROOT}, or in a clone of your own.`);
  process.exit(1);
}
// Before the build: what changes while it runs is not in it.
const digest = digestOfSources();
const built = RESULTS.every((path) => existsSync(path)) && existsSync(STAMP) ? readFileSync(STAMP, 'utf8') : null;

function step(name, command, args, options) {
  const began = Date.now();
  process.stdout.write(`  ${name} … `);
  const { ok, status } = run(command, args, options);
  if (!ok) {
    console.error('\nThe build failed. After a pull run `npm ci` first: what is installed may be older than the sources.');
    process.exit(status);
  }
  console.log(`${((Date.now() - began) / 1000).toFixed(1)} s`);
}

if (!process.argv.includes('--if-needed') || built !== digest) {
  try {
    accessSync(ROOT, constants.W_OK);
  } catch {
    console.error(`${ROOT} has to be built, and this user may not write to it: run \`npm run build\` there as its owner.`);
    process.exit(1);
  }
  console.log(
    built === null ? 'Building (the first time takes about half a minute):' : built === digest ? 'Building:' : 'Building what has changed:',
  );
  // Half a build is none.
  rmSync(STAMP, { force: true });
  step('services', 'tsc', ['-b', 'services/platform'], { quiet: true });
  if (INBOX) {
    const fresh = process.env.CI ? ['--skip-nx-cache'] : [];
    step('inbox', 'nx', ['run-many', '--targets=build', '--output-style=stream', ...fresh], { quiet: true });
  }
  mkdirSync(join(ROOT, '.nx'), { recursive: true });
  writeFileSync(STAMP, digest);
}
