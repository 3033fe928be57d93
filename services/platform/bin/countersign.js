#!/usr/bin/env node
// What `npx countersign` runs. The program itself is built; this file is committed, so that npm can link it before there is a build.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

await import('../../../scripts/node-version.mjs');
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/countersign', import.meta.url)));
const program = new URL('../dist/cli.js', import.meta.url);
if (!existsSync(program)) {
  process.stderr.write('Countersign is not built yet: run `npm run build` in its folder first.\n');
  process.exit(1);
}
await import(program.href);
