// Everything runs on the Node that `npm ci` brings into node_modules; npm puts it first in PATH for its scripts. This says so when it did not arrive.
import { readFileSync } from 'node:fs';

const REQUIRED = [24, 11, 1];
const found = process.versions.node.split('.').map(Number);
const difference = REQUIRED.map((part, i) => found[i] - part).find((d) => d !== 0) ?? 0;
if (difference < 0) {
  const { devDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  console.error(
    `Countersign requires Node ${REQUIRED.join('.')} or newer; this is Node ${process.versions.node}. ` +
      `Run \`npm ci\`, which installs Node ${devDependencies.node} into node_modules, then start again through npm.`,
  );
  process.exit(1);
}
