import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder, spawnProgram } from '@countersign/platform/fixture';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

/** A Debian of which only its package manager is there: it installs by making a file of the package's name in PATH. */
let debian: ReturnType<typeof scratchFolder>;
beforeEach(() => {
  debian = scratchFolder();
  program('dpkg-query', `for last; do :; done`, `test -e "${debian.path}/$last" && printf 'install ok installed'`);
});
afterEach(() => debian.remove());

function program(name: string, ...lines: string[]): void {
  const path = join(debian.path, name);
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}
const aptGet = (reaches: boolean) =>
  program(
    'apt-get',
    `echo "$@" >> "${debian.path}/log"`,
    ...(reaches ? [`[ "$1" = update ] || for last; do case $last in -*) ;; *) : > "${debian.path}/$last" ;; esac; done`] : ['exit 100']),
  );
const installed = (...names: string[]) => {
  for (const name of names) program(name);
};
/** What apt-get was told to install. */
function asked(): string[] {
  if (!existsSync(join(debian.path, 'log'))) return [];
  return [...readFileSync(join(debian.path, 'log'), 'utf8').matchAll(/\binstall .*--no-install-recommends (.*)$/gm)].map(
    ([, names]) => names ?? '',
  );
}

async function evaluate(expression: string, { uid = 0, CHROMIUM_PATH = '' } = {}): Promise<unknown> {
  const environment = [`PATH=${debian.path}`, `CHROMIUM_PATH=${CHROMIUM_PATH}`];
  const source = `const scripts = { ...(await import('./scripts/browser.mjs')), ...(await import('./scripts/debian.mjs')), ...(await import('./libs/local-kafka/dist/index.js')) };
    process.getuid = () => ${uid};
    console.log('\\n' + JSON.stringify(${expression} ?? null));`;
  const node = [process.execPath, '--input-type=module', '-e', source];
  const { code, stdout } = await spawnProgram('env', [...environment, ...node]).exited;
  expect(code).toBe(0);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}
const browser = (as = {}) => evaluate('scripts.ensureBrowser()', as);

describe('the browser of the tests', () => {
  it.each([
    ['nothing', ['chromium-headless-shell', 'fonts-liberation'], []],
    ['Chromium', ['fonts-liberation'], ['chromium-headless-shell']],
    ['the one without windows', ['chromium', 'fonts-liberation'], ['chromium-headless-shell']],
    ['the fonts', ['chromium-headless-shell'], ['fonts-liberation']],
    ['both', [], ['chromium-headless-shell fonts-liberation']],
  ])('is used where it is, and for root on Debian installed: when %s is missing, that', async (_, there, installs) => {
    installed(...there);
    aptGet(true);
    expect(await browser()).toEqual({ path: join(debian.path, 'chromium-headless-shell') });
    expect(asked()).toEqual(installs);
  });

  it('is the whole Chromium where the one without windows cannot be had', async () => {
    installed('chromium', 'fonts-liberation');
    aptGet(false);
    expect(await browser()).toEqual({ path: join(debian.path, 'chromium') });
    expect(await browser({ uid: 1000 })).toEqual({ path: join(debian.path, 'chromium') });
  });

  it('that apt-get does not bring is missing, and so is what cannot be installed: one sentence says how to get it', async () => {
    installed('chromium');
    aptGet(false);
    expect(await browser()).toEqual({ missing: expect.stringMatching(/^apt-get did not install fonts-liberation \(/) });
    expect(await browser({ uid: 1000 })).toEqual({ missing: expect.stringContaining('`sudo apt-get install fonts-liberation`') });
  });

  it('is looked for where CHROMIUM_PATH says, and nowhere else', async () => {
    installed('chromium', 'fonts-liberation', 'mine');
    expect(await browser({ CHROMIUM_PATH: join(debian.path, 'mine') })).toEqual({ path: join(debian.path, 'mine') });
    const missing = 'CHROMIUM_PATH is /no/such/browser, and there is no such file.';
    expect(await browser({ CHROMIUM_PATH: '/no/such/browser' })).toEqual({ missing });
  });
});

describe('a program the examples of the README need', () => {
  it('is installed for root on Debian when it is missing, and left to its test to miss for anybody else', async () => {
    installed('curl');
    aptGet(true);
    await evaluate("scripts.bringPrograms('curl', 'python3')", { uid: 1000 });
    expect(asked()).toEqual([]);
    await evaluate("scripts.bringPrograms('curl', 'python3')");
    expect(asked()).toEqual(['python3']);
  });
});

describe('Java and Maven, for a Kafka of this machine,', () => {
  const bring = (as = {}) => evaluate("await scripts.kafkaArtifacts().then(() => 'there', (error) => error.message)", as);
  beforeEach(() => {
    symlinkSync('/usr/bin/env', join(debian.path, 'env'));
    const comesWith = (name: string) => `test -e "${debian.path}/${name}" || exit 127`;
    program('java', comesWith('default-jre-headless'), `echo 'openjdk version "21.0.1"' >&2`);
    // It answers, and fetches nothing.
    program('mvn', comesWith('maven'), '[ "$1" = -v ]');
  });
  const needed = expect.stringMatching(
    /^A local Kafka needs Java 17 or newer and Maven \(on Debian: apt-get install default-jre-headless maven\)/,
  );

  it('are installed for root on Debian when they are missing', async () => {
    aptGet(true);
    // What follows is whether this clone has the broker's jars already.
    expect(await bring()).toMatch(/^(there$|Maven could not fetch Apache Kafka)/);
    expect(asked()).toEqual(['default-jre-headless maven']);
  });

  it('that apt-get does not bring, or that somebody else would have to install, are asked for in a sentence', async () => {
    aptGet(false);
    expect(await bring()).toEqual(needed);
    expect(await bring({ uid: 1000 })).toEqual(needed);
    expect(asked()).toEqual([]);
  });
});
