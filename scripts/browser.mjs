// The browser tests drive a real Chromium. Where this runs as root on Debian it is installed; elsewhere one sentence says how to get it.
import { existsSync } from 'node:fs';
import { run } from './run.mjs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const find = () => [process.env.CHROMIUM_PATH, ...PLACES].find((place) => place && existsSync(place));

/** @returns {{ path: string } | { missing: string }} the browser, or what to do about its absence */
export function ensureBrowser() {
  let path = find();
  if (path) return { path };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return {
      missing:
        'The browser tests need Chromium and the Liberation fonts (Debian and Ubuntu: `sudo apt-get install chromium fonts-liberation`); ' +
        'set CHROMIUM_PATH if it stands elsewhere, or leave these tests out with `npm test -- --without=browser`.',
    };
  }
  console.log('Installing chromium and fonts-liberation for the browser tests…');
  const options = { quiet: true, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  run('apt-get', ['update', '-q'], options);
  run('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'chromium', 'fonts-liberation'], options);
  path = find();
  return path
    ? { path }
    : { missing: 'Chromium could not be installed with apt-get (its output stands above), and the browser tests need it.' };
}
