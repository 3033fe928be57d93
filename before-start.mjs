// What npm runs before `npm start` and the like. It stands outside of scripts/, which may be the folder that this user cannot read.
import { accessSync, constants } from 'node:fs';

try {
  accessSync(new URL('scripts/build.mjs', import.meta.url), constants.R_OK);
} catch {
  process.stderr.write(
    'The folder scripts cannot be read by this user. Run this as the owner of the folder it is in, or in a clone of your own.\n',
  );
  process.exit(1);
}
await import('./scripts/node-version.mjs');
process.argv.push('--if-needed');
await import('./scripts/build.mjs');
