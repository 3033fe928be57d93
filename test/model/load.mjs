// On top of libs/testing/jest/source.mjs, which loads the workspace's TypeScript as it stands: three things of it are others for the
// simulation. The connection that listens, the client of Kafka and, where MODEL_BUG names one, a line of the source.
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);
const bugs = JSON.parse(readFileSync(new URL('bugs.json', import.meta.url), 'utf8'));
const bug = process.env.MODEL_BUG === undefined ? null : bugs[Number(process.env.MODEL_BUG)];
const bugUrl = bug && new URL(bug.file, root).href;
const double = (name) => new URL(`world/${name}-double.ts`, import.meta.url).href;
const LISTENING = `data:text/javascript,export { Client } from '${double('pg')}'; import { Client } from '${double('pg')}'; export default { Client };`;

/** The source with its one line changed; a text that is not there, or not once, is no bug of it. */
function changed(source) {
  if (source.split(bug.from).length !== 2) throw new Error(`${bug.file} does not hold exactly once: ${bug.from}`);
  return source.replace(bug.from, () => bug.to);
}

registerHooks({
  resolve(specifier, context, next) {
    const from = context.parentURL ?? '';
    if (specifier === 'pg' && from.endsWith('/event-bus/src/feed/listener.ts')) return { url: LISTENING, shortCircuit: true };
    if (specifier === 'kafkajs' && from.includes('/event-bus/src/kafka/')) return { url: double('kafka'), shortCircuit: true };
    return next(specifier, context);
  },
  load(url, context, next) {
    if (url !== bugUrl) return next(url, context);
    const source = stripTypeScriptTypes(changed(readFileSync(fileURLToPath(url), 'utf8')), { mode: 'transform' });
    return { format: 'module', source, shortCircuit: true };
  },
});
