import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, scratchFolder, spawnProgram } from '@countersign/platform/fixture';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
/** Root may read everything, so under root it is somebody else who starts; anybody else is kept out of files of their own. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const SOMEBODY_ELSES = 'Run this as the owner of';

const tools = scratchFolder();
let scratch: ReturnType<typeof scratchFolder>;
let clone: string;

/** Node and npm where nobody reaches them too. */
beforeAll(async () => {
  chmodSync(tools.path, 0o755);
  const { stdout } = await spawnProgram('which', ['npm']).exited;
  cpSync(join(dirname(realpathSync(stdout.trim())), '..'), join(tools.path, 'npm'), { recursive: true });
  cpSync(process.execPath, join(tools.path, 'node'));
});
afterAll(() => tools.remove());

/** As little as `npm start` reads, built. */
beforeEach(async () => {
  scratch = scratchFolder();
  chmodSync(scratch.path, 0o755);
  clone = join(scratch.path, 'clone');
  for (const name of ['package.json', '.npmrc', 'before-start.mjs', 'scripts'])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  for (const [path, text] of [
    ['libs/one/src/index.ts', 'export {};'],
    ['services/platform/dist/main.js', "import 'one'; process.stdout.write('It runs.');"],
    ['node_modules/one/package.json', '{"type":"module","exports":"./index.js"}'],
    ['node_modules/one/index.js', 'export {};'],
  ] as const) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
  mkdirSync(join(clone, '.nx'));
  const digest = "import('./scripts/sources.mjs').then(({ digestOfSources }) => process.stdout.write(digestOfSources()))";
  writeFileSync(join(clone, '.nx/built'), (await spawnProgram('node', ['-e', digest], { cwd: clone }).exited).stdout);
});
afterEach(async () => {
  await spawnProgram('chmod', ['-R', 'u+rwX', clone]).exited;
  scratch.remove();
});

function start(): Promise<Ended> {
  const environment = [`HOME=${scratch.path}`, `PATH=${tools.path}:/usr/bin:/bin`];
  return spawnProgram('env', [...environment, 'node', join(tools.path, 'npm/bin/npm-cli.js'), 'start'], { cwd: clone, ...NOBODY }).exited;
}

describe('npm start in the clone of another user', () => {
  it('runs what is built when all of it may be read', async () => {
    const { code, stdout, stderr } = await start();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split(/\s*\n\s*/)).toEqual([
      ...['> countersign@0.1.0 prestart', '> node before-start.mjs'],
      ...['> countersign@0.1.0 start', '> exec node services/platform/dist/main.js', 'It runs.'],
    ]);
  });

  it.each([
    'scripts',
    'node_modules',
    'node_modules/one',
    'services/platform/dist',
    'services/platform/dist/main.js',
    'libs/one/src/index.ts',
    'libs',
  ])('says in one sentence that %s cannot be read', async (path) => {
    chmodSync(join(clone, path), 0);
    const { code, stdout, stderr } = await start();
    expect(stderr).toMatch(new RegExp(`^(The folder |${clone}/)${path} cannot be read by this user\\. ${SOMEBODY_ELSES} [^\\n]+\\n$`));
    expect(code).toBe(1);
    expect(stdout).not.toContain('It runs.');
  });

  it('says in one sentence that it has to be built and may not be written to', async () => {
    rmSync(join(clone, '.nx/built'));
    chmodSync(clone, 0o555);
    const { code, stdout, stderr } = await start();
    expect(stderr).toBe(`${clone}/ has to be built, and this user may not write to it: run \`npm run build\` there as its owner.\n`);
    expect(code).toBe(1);
    expect(stdout).not.toContain('It runs.');
    expect(existsSync(join(clone, '.nx/built'))).toBe(false);
  });

  it('gets the words of npm that the README explains when not even package.json may be read', async () => {
    chmodSync(join(clone, 'package.json'), 0);
    const { code, stderr } = await start();
    const words = 'Could not read package.json: Error: EACCES: permission denied';
    expect(stderr).toContain(words);
    expect(code).not.toBe(0);
    expect(README).toContain(words);
  });
});
