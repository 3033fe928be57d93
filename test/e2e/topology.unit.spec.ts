import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, type SpawnedProgram, scratchFolder, spawnProgram } from '@countersign/platform/fixture';
import { afterEach, expect, it } from '@jest/globals';
import { start } from './topology.js';

const scratch = scratchFolder();
const programs: SpawnedProgram[] = [];
afterEach(() => {
  for (const { child } of programs) child.kill('SIGKILL');
  scratch.remove();
});

it('a topology that cannot be started leaves none of its processes behind', async () => {
  const spawn = (dataDir: string): SpawnedProgram => {
    const program = spawnProgram('node', ['-e', "setInterval(() => {}, 1_000); console.log('is ready at')"]);
    programs.push(program);
    writeFileSync(join(dataDir, 'lock.json'), JSON.stringify({ pid: program.child.pid, database_url: 'postgresql://nobody' }));
    writeFileSync(join(dataDir, 'credentials.json'), 'half of a fi');
    return program;
  };
  const kill = () => Promise.reject(new Error('Nothing is killed here.'));
  await expect(start(spawn, {}, { dataDir: scratch.path, kill })).rejects.toThrow(SyntaxError);
  expect(programs.map(({ child }) => isRunning(child.pid as number))).toEqual([false]);
});
