import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDataDirectory } from './data-directory.js';
import { lockHolder } from './lock.js';
import { isAlive, startOf } from './process-identity.js';

let base: string;
let dataDir: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'countersign-data-'));
  dataDir = join(base, 'data');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = (create = true) => openDataDirectory(dataDir, { command: 'npm start', create });
const write = (name: string, content: string) => {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, name), content);
};
/** A pid no process has: beyond what Linux hands out by default. */
const NOBODY = 4_194_305;

describe('a data directory', () => {
  it('is made private, keeps its keys, and can be opened again after it was released', async () => {
    const first = await open();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
    first.lock.release();

    const second = await open(false);
    expect(second.secrets).toEqual(first.secrets);
    second.lock.release();
    expect(readdirSync(dataDir).sort()).toEqual(['layout.json', 'secrets.json']);
  });

  it('is refused to a second instance, which is told who holds it and where that answers', async () => {
    const { lock } = await open();
    await expect(open()).rejects.toThrow(`${dataDir} is in use by \`npm start\` (process ${process.pid}). Stop it first`);
    lock.publish({ url: 'http://127.0.0.1:3100', database_url: 'postgresql://x' });
    await expect(open()).rejects.toThrow('running at http://127.0.0.1:3100');
    expect(statSync(join(dataDir, 'lock.json')).mode & 0o777).toBe(0o600);
    expect(lockHolder(dataDir)).toMatchObject({ pid: process.pid, database_url: 'postgresql://x' });
    lock.release();
    expect(lockHolder(dataDir)).toBeNull();
  });

  it('is waited for while its holder is on the way out', async () => {
    const first = await open();
    first.lock.announceEnd();
    const second = open();
    setTimeout(() => first.lock.release(), 50);
    const { lock } = await second;
    expect(lockHolder(dataDir)).toMatchObject({ pid: process.pid });
    expect(lockHolder(dataDir)).not.toHaveProperty('ending');
    lock.release();
  });

  it.each([
    ['a process that is gone', { pid: NOBODY, start: null }],
    ['an earlier process with the pid of a living one', { pid: process.ppid, start: 'another boot:1' }],
    ['an earlier process with our own pid', { pid: process.pid, start: 'another boot:1' }],
    ['nothing that can be read', 'not JSON'],
  ])('is taken over from %s', async (_, holder) => {
    (await open()).lock.release();
    write('lock.json', JSON.stringify(holder));
    const { lock } = await open();
    expect(lockHolder(dataDir)).toMatchObject({ pid: process.pid });
    lock.release();
  });

  it('opens after a start that was killed before it wrote anything but its lock', async () => {
    write('lock.json', JSON.stringify({ pid: NOBODY, start: null }));
    write('layout.json.4711.new', '');
    const { lock, fresh } = await open();
    expect({ fresh, holder: lockHolder(dataDir)?.pid }).toEqual({ fresh: true, holder: process.pid });
    lock.release();
  });

  it.each([
    [
      'a newer layout',
      () => write('layout.json', '{"layout":99}'),
      /written by a newer version of Countersign \(layout 99; this version supports 1\)/,
    ],
    ['a damaged layout', () => write('layout.json', '{"lay'), /layout.json is damaged/],
    ['files of somebody else', () => write('thesis.tex', ''), /is not empty and contains no Countersign data/],
    ['a file', () => writeFileSync(dataDir, ''), /is not a directory/],
  ])('refuses %s in one sentence and leaves it as it was', async (_, prepare, sentence) => {
    prepare();
    await expect(open()).rejects.toMatchObject({ name: 'CannotStart', message: expect.stringMatching(sentence) });
    expect(lockHolder(dataDir)).toBeNull();
  });

  it('is made with every folder above it that is missing', async () => {
    dataDir = join(base, 'one/two/data');
    (await open()).lock.release();
    expect(readdirSync(dataDir)).toContain('layout.json');
  });

  it.each(['/proc/countersign', '/proc/countersign/data', '/proc/self/task/data'])(
    'cannot be made at %s, where Node would try for ever',
    async (path) => {
      if (process.platform !== 'linux') return;
      await expect(openDataDirectory(path, { command: 'npm start', create: true })).rejects.toMatchObject({
        name: 'CannotStart',
        message: expect.stringMatching(/Cannot create a directory at|is not writable|cannot be used/),
      });
    },
  );

  it('refuses a folder below a file', async () => {
    writeFileSync(join(base, 'file'), '');
    dataDir = join(base, 'file/data');
    await expect(open()).rejects.toThrow(/is not a directory/);
  });

  it('refuses data whose keys are missing or damaged, and makes no new ones', async () => {
    (await open()).lock.release();
    mkdirSync(join(dataDir, 'postgres'));
    rmSync(join(dataDir, 'secrets.json'));
    await expect(open()).rejects.toThrow(/secrets.json is missing/);
    expect(readdirSync(dataDir)).not.toContain('secrets.json');
    write('secrets.json', '{"secrets_key":"short"}');
    await expect(open()).rejects.toThrow(/does not contain a valid key/);
    expect(readFileSync(join(dataDir, 'secrets.json'), 'utf8')).toContain('short');
  });

  it('is not created by a command that works on what a server left', async () => {
    await expect(open(false)).rejects.toThrow(/contains no Countersign data\. Set DATA_DIR, or start a server/);
    expect(readdirSync(base)).toEqual([]);
  });
});

describe('isAlive', () => {
  it('knows a living process by its pid and its start', () => {
    expect(isAlive(process.ppid, startOf(process.ppid))).toBe(true);
    expect(isAlive(process.ppid, 'another boot:1')).toBe(process.platform === 'win32');
    expect(isAlive(NOBODY, null)).toBe(false);
  });
});
