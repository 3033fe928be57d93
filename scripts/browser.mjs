// The browser tests drive a real Chromium, and measure pages that are set in the Liberation fonts.
import { existsSync } from 'node:fs';
import { hasPackage, install, mayInstall, programPath } from './debian.mjs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
const APPLICATIONS = ['/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];
const FONTS = 'fonts-liberation';

function find() {
  const set = process.env.CHROMIUM_PATH;
  if (set) return existsSync(set) ? set : undefined;
  return PROGRAMS.map(programPath).find((path) => path) ?? APPLICATIONS.find((path) => existsSync(path));
}

const lacking = () => [...(find() ? [] : ['chromium']), ...(hasPackage(FONTS) ? [] : [FONTS])];

/** @returns {{ path: string } | { missing: string }} the browser, or what to do about what is missing */
export function ensureBrowser() {
  const set = process.env.CHROMIUM_PATH;
  if (set && !existsSync(set)) return { missing: `CHROMIUM_PATH is ${set}, and there is no such file.` };
  const packages = lacking();
  if (packages.length > 0 && mayInstall()) {
    install(packages, 'the browser tests');
    const still = lacking();
    if (still.length > 0) {
      return { missing: `apt-get did not install ${still.join(' and ')} (its output stands above), and the browser tests need it.` };
    }
  } else if (packages.length > 0) {
    return {
      missing:
        `The browser tests need Chromium and the Liberation fonts (Debian and Ubuntu: \`sudo apt-get install ${packages.join(' ')}\`); ` +
        'set CHROMIUM_PATH if Chromium stands elsewhere, or leave these tests out with `npm test -- --without=browser`.',
    };
  }
  return { path: find() };
}
