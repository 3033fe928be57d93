// The browser tests drive a real Chromium, and measure pages that are set in the Liberation fonts.
import { existsSync } from 'node:fs';
import { hasPackage, install, mayInstall, programPath } from './debian.mjs';

/** Chromium without its windows: the same pages for a quarter of the computing, half of what these tests cost with the whole browser. */
const SHELL = 'chromium-headless-shell';
const PROGRAMS = [SHELL, 'chromium', 'chromium-browser', 'google-chrome'];
const APPLICATIONS = ['/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
const FONTS = 'fonts-liberation';

function find() {
  const set = process.env.CHROMIUM_PATH;
  if (set) return existsSync(set) ? set : undefined;
  return PROGRAMS.map(programPath).find((path) => path) ?? APPLICATIONS.find((path) => existsSync(path));
}

const fonts = () => (hasPackage(FONTS) ? [] : [FONTS]);
/** What these tests cannot do without. */
const lacking = () => [...(find() ? [] : [SHELL]), ...fonts()];

/** @returns {{ path: string } | { missing: string }} the browser, or what to do about what is missing */
export function ensureBrowser() {
  const set = process.env.CHROMIUM_PATH;
  if (set && !existsSync(set)) return { missing: `CHROMIUM_PATH is ${set}, and there is no such file.` };
  const wanted = [...(set || programPath(SHELL) ? [] : [SHELL]), ...fonts()];
  if (wanted.length > 0 && mayInstall()) install(wanted, 'the browser tests');
  const packages = lacking();
  if (packages.length === 0) return { path: find() };
  return {
    missing: mayInstall()
      ? `apt-get did not install ${packages.join(' and ')} (its output stands above), and the browser tests need it.`
      : `The browser tests need Chromium and the Liberation fonts (Debian and Ubuntu: \`sudo apt-get install ${packages.join(' ')}\`); ` +
        'set CHROMIUM_PATH if Chromium stands elsewhere, or leave these tests out with `npm test -- --without=browser`.',
  };
}
