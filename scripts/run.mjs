// How the scripts start other programs: from the root, with node_modules/.bin first in PATH (so on the Node that npm installed), without a shell.
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param {{ quiet?: boolean, stdout?: 'inherit' | 'ignore', env?: Record<string, string> }} [options]
 *   quiet: output is shown only when the program failed
 */
export function run(command, args, { quiet = false, stdout = 'inherit', env = {} } = {}) {
  const result = spawnSync(command, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: `${ROOT}node_modules/.bin${delimiter}${process.env.PATH}`,
      NX_DAEMON: 'false',
      ...env,
    },
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', stdout, 'inherit'],
    shell: process.platform === 'win32',
  });
  if (result.error) throw new Error(`${command} could not be started (${result.error.message}). Has \`npm ci\` run?`);
  const ok = result.status === 0;
  if (quiet && !ok) process.stderr.write(Buffer.concat([result.stdout, result.stderr]));
  return { ok, status: result.status ?? 1, signal: result.signal };
}
