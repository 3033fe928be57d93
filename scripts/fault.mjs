// `npm run test:fault [-- <folder under test/fault>… | <option of npm test>…]`: the tests that break something while it works (docs/reliability.md).
import { run } from './run.mjs';

const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith('-'));
const folders = given.filter((argument) => !argument.startsWith('-'));
const paths = folders.length === 0 ? ['/test/fault/'] : folders.map((folder) => `/test/fault/${folder}`);
process.exit(run('node', ['scripts/test.mjs', ...paths, ...options]).status);
