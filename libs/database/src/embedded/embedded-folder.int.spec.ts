/** What a data folder may be, and where. */
import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { asRoot, Folder, InitialisedFolder, query, spawnToEnd } from './embedded.fixture.js';
import { startEmbeddedPostgres } from './embedded.js';

const initialised = new InitialisedFolder();
let folder: Folder;
beforeAll(() => initialised.make());
afterAll(() => initialised.remove());
beforeEach(async () => {
  folder = await Folder.make();
});
afterEach(() => folder.remove());

/** Only root starts a server as another user; anybody else's is their own, and the same folders are closed to nobody. */
const inRootsCase = (name: string, test: () => Promise<void>) =>
  asRoot ? it(name, test) : it.skip(`${name} (not run: only root starts the server as another user)`, test);

describe('a data folder', () => {
  it.each([
    [
      'of a newer PostgreSQL',
      async () => writeFile(join(folder.dataDir, 'cluster', 'PG_VERSION'), '99\n'),
      /was written by PostgreSQL 99; this version includes PostgreSQL \d+\. Start the newer version/,
    ],
    [
      'of an older PostgreSQL',
      async () => writeFile(join(folder.dataDir, 'cluster', 'PG_VERSION'), '14\n'),
      /was written by PostgreSQL 14; this version includes PostgreSQL \d+\. Migrate it/,
    ],
    ['without its version', async () => rm(join(folder.dataDir, 'cluster', 'PG_VERSION')), /is not a complete PostgreSQL data directory/],
    [
      'with a damaged control file',
      async () => truncate(join(folder.dataDir, 'cluster', 'global', 'pg_control'), 100),
      /could not start.*the data may be damaged.*pg_control/s,
    ],
    ['without its password', async () => rm(join(folder.dataDir, 'password')), /password is missing or empty/],
    ['with another password', async () => writeFile(join(folder.dataDir, 'password'), 'guess'), /password in .* does not match the data/],
  ])('%s is refused with one sentence', async (_, damage, sentence) => {
    await initialised.copyTo(folder.dataDir);
    await damage();
    await expect(folder.start()).rejects.toMatchObject({ name: 'EmbeddedPostgresError', message: expect.stringMatching(sentence) });
  });

  it('is left as it was found on a platform without binaries', async () => {
    await expect(startEmbeddedPostgres({ dataDir: folder.dataDir, platform: 'plan9-mips' })).rejects.toThrow(
      /No embedded PostgreSQL is installed for plan9-mips.*DATABASE_URL/s,
    );
    await expect(readdir(folder.dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  inRootsCase('under a folder closed to others works for root all the same', async () => {
    const closed = join(folder.path, 'home');
    await mkdir(closed, { mode: 0o700 });
    folder.dataDir = join(closed, 'postgres');
    const first = await folder.start();
    await query(first.url, "create table kept (text text); insert into kept values ('closed')");
    await first.stop();
    const { child, pid, ended } = await folder.inProcess('');
    child.kill('SIGKILL');
    await ended;
    const second = await folder.start();
    expect(second).toMatchObject({ adopted: true, pid });
    expect(await query(second.url, 'select text from kept')).toEqual([{ text: 'closed' }]);
    // Nothing of root's is opened to others for it.
    expect((await stat(closed)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder.dataDir, 'password'))).uid).toBe(0);
  });

  inRootsCase('and binaries under a folder closed to others: the binaries are copied where the server’s user reaches them', async () => {
    const { findBinaries, reachableBinaries, reachable } = await import('./embedded-binaries.js');
    const native = (await findBinaries(`${process.platform}-${process.arch}`)) as string;
    const closed = join(folder.path, 'clone');
    await mkdir(closed, { mode: 0o700 });
    await spawnToEnd('cp', ['-a', native, join(closed, 'native')]);
    const user = { uid: 65534, gid: 65534 };
    expect(await reachable(join(closed, 'native'), user)).toBe(false);
    const [copy, again] = await Promise.all([1, 2].map(() => reachableBinaries(join(closed, 'native'), user, folder.path)));
    expect(copy).toBe(again);
    expect(copy).toMatch(join(folder.path, 'postgres-'));
    expect(await reachable(copy as string, user)).toBe(true);
    // A copy that lost a file is made anew.
    await rm(join(copy as string, 'share', 'postgresql', 'postgres.bki'));
    expect(await reachableBinaries(join(closed, 'native'), user, folder.path)).toBe(copy);
    expect((await stat(join(copy as string, 'share', 'postgresql', 'postgres.bki'))).size).toBeGreaterThan(0);
    // Where even the data folder is closed, the temporary folder it is; one that somebody else has filled is not run from.
    const elsewhere = await reachableBinaries(join(closed, 'native'), user, closed);
    expect(elsewhere.startsWith(tmpdir())).toBe(true);
    await chown(elsewhere, 65534, 65534);
    await expect(reachableBinaries(join(closed, 'native'), user, closed)).rejects.toThrow('will not be run');
    await rm(elsewhere, { recursive: true });
    const version = spawn(join(copy as string, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/' });
    expect(await new Promise((resolve) => version.once('close', resolve))).toBe(0);
  });
});
