import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnProgram } from '@countersign/platform/fixture';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXTRA = join(ROOT, 'services/inbox/public/of-a-spec.txt');

/** What `npm start` and `npm run demo` run first. */
const build = () => spawnProgram('node', ['scripts/build.mjs', '--if-needed']).exited;

describe('building before a start', () => {
  beforeAll(async () => {
    expect(await build()).toMatchObject({ code: 0, stderr: '' });
  });
  afterEach(() => rmSync(EXTRA, { force: true }));

  it('is left out when nothing has changed, whatever a restored cache or a checkout did to the times of files and folders', async () => {
    const now = new Date();
    for (const path of ['services/inbox', 'services/platform', 'services/platform/src/main.ts', 'package.json']) {
      utimesSync(join(ROOT, path), now, now);
    }
    expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('is done once when something has, a file that is new or gone included, and says what it does', async () => {
    writeFileSync(EXTRA, 'new');
    const changed = await build();
    expect(changed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Building what has changed:\n {2}services … .* s\n {2}inbox … .* s\n$/),
    });
    expect(existsSync(join(ROOT, 'services/inbox/dist/of-a-spec.txt'))).toBe(true);
    expect((await build()).stdout).toBe('');
    rmSync(EXTRA);
    expect((await build()).stdout).toMatch(/^Building/);
    expect(existsSync(join(ROOT, 'services/inbox/dist/of-a-spec.txt'))).toBe(false);
  });
});
