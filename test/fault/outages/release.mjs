// Loaded before a process (`--import release.mjs?<JSON>`): decides which of two releases it is, so that processes of both work side by side on one database,
// and one that is told to stop is started again as the other.
//
//   folder    a service's process is of the new release once the file <folder>/<service>-<port> is there; `as: 'new'` says so of any process
//   previous  the built tree of an older revision: the old release is that one, and the new one this tree as it is. Without it the old release is this
//             tree, and the new one what follows: this tree with one more type of event, which it writes at once, and one more migration.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../../', import.meta.url).href;
const { folder, previous, as } = JSON.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1)));
const service = /\/services\/(\w+)\/dist\/main\.js$/.exec(process.argv[1] ?? '')?.[1];
const isNew = as === 'new' || (service !== undefined && existsSync(join(folder, `${service}-${process.env.PORT}`)));

/** What the next release is, beside this one: built files, and a text of each that is there exactly once. */
const NEXT = [
  [
    'contracts/dist/events/review.js',
    'export const REVIEW_EVENTS = {',
    `export const ReviewStamped = message('review.stamped.v1', Type.Object({ release: Type.String() }));
     export const REVIEW_EVENTS = { 'review.stamped': { 1: ReviewStamped },`,
  ],
  [
    'libs/review/dist/commands/submit.js',
    "const events = [{ type: 'review.requested', body: requested }];",
    "const events = [{ type: 'review.requested', body: requested }, { type: 'review.stamped', body: { release: 'next' } }];",
  ],
  [
    'services/intake/dist/migrations.js',
    "fileURLToPath(new URL('../migrations', import.meta.url))",
    JSON.stringify(join(folder, 'migrations')),
  ],
];

if (isNew && previous === undefined) {
  const migrations = join(folder, 'migrations');
  if (!existsSync(migrations)) {
    const own = fileURLToPath(new URL('services/intake/migrations', root));
    cpSync(own, migrations, { recursive: true });
    const number = String(readdirSync(own).length + 1).padStart(4, '0');
    writeFileSync(
      join(migrations, `${number}_stamps.sql`),
      "alter table intake.templates add column stamp text not null default 'none';\n",
    );
  }
  registerHooks({
    load(url, context, next) {
      const change = NEXT.find(([file]) => url === root + file);
      if (change === undefined) return next(url, context);
      const [file, from, to] = change;
      const source = readFileSync(fileURLToPath(url), 'utf8');
      if (source.split(from).length !== 2) throw new Error(`${file} does not hold exactly once: ${from}`);
      return { format: 'module', source: source.replace(from, () => to), shortCircuit: true };
    },
  });
}
if (!isNew && previous !== undefined && service !== undefined) {
  const entry = `services/${service}/dist/main.js`;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === root + entry ? { ...found, url: pathToFileURL(join(previous, entry)).href } : found;
    },
  });
}
