// `npm run measure:idle [-- --seconds=60]`: what the services cost while nobody asks for anything. Starts them over a PostgreSQL and a Kafka of
// their own on a folder that is removed again, sends a few requests so that everything has run once, waits, and prints memory and CPU of each
// process and their sum. Linux only: the figures are the kernel's.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ROOT } from './run.mjs';

const LIMIT = { rss: 130, cpu: 1 };
const WARM_UP = 30;
const SETTLE_MS = 15_000;
const READY_MS = 180_000;
const STOP_MS = 30_000;
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const { seconds } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } }).values;

if (process.platform !== 'linux') throw new Error('measure:idle reads /proc, which only Linux has.');

/** CPU seconds a process has used, and its memory in MB: resident, and its share when pages are divided among those who use them. */
function look(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const mb = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(memory)[1]) / 1024;
  return { cpu: (Number(user) + Number(system)) / TICKS, rss: mb('Rss'), pss: mb('Pss') };
}

/** Name → pid of what a process has started. */
function children(pid) {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return new Map(
    pids.map((child) => {
      const [program, ...rest] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      return [/services\/(\w+)\/dist\/main\.js/.exec(rest.join(' '))?.[1] ?? program.split('/').at(-1), Number(child)];
    }),
  );
}

async function warmUp(dataDir) {
  const { url, api_key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'));
  const call = async (path, body) => {
    const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v1${path}`, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  const payload = { to: 'ann@customer.example', subject: 'Your order', body: 'It is on its way.' };
  for (let round = 0; round < WARM_UP; round++) {
    const { id } = await call('/reviews', { template: 'email-draft', payload });
    await call(`/reviews/${id}`);
    await call('/reviews');
  }
}

const table = (rows) => rows.map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(14) : cell.padStart(10))).join('')).join('\n');
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

const dataDir = mkdtempSync(join(tmpdir(), 'countersign-idle-'));
const { NODE_OPTIONS: _, ...environment } = process.env;
const starter = spawn(process.execPath, ['services/platform/dist/services/main.js'], {
  cwd: ROOT,
  env: { ...environment, DATA_DIR: dataDir, PORT: '0' },
  stdio: ['ignore', 'pipe', 'pipe'],
});
const ended = once(starter, 'exit');
let said = '';
for (const output of [starter.stdout, starter.stderr])
  output.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-20_000)));
let isReady = false;
try {
  for (const deadline = Date.now() + READY_MS; !isReady; await sleep(200)) {
    isReady = / is ready at /.test(said);
    if (!isReady && (starter.exitCode !== null || Date.now() > deadline)) throw new Error(`The services are not ready:\n${said}`);
  }
  await warmUp(dataDir);
  await sleep(SETTLE_MS);
  const pids = children(starter.pid);
  const first = new Map([...pids].map(([name, pid]) => [name, look(pid)]));
  const load = loadavg()[0];
  const began = performance.now();
  await sleep(Number(seconds) * 1_000);
  const elapsed = (performance.now() - began) / 1_000;
  const figures = [...pids].map(([name, pid]) => {
    const { cpu, rss, pss } = look(pid);
    return { name, rss, pss, cpu: ((cpu - first.get(name).cpu) / elapsed) * 100 };
  });
  const others = ['postgres', 'java'];
  const services = figures.filter(({ name }) => !others.includes(name)).sort((a, b) => a.name.localeCompare(b.name));
  const row = ({ name, rss, pss, cpu }, judge = true) => [
    name,
    rss.toFixed(0),
    pss.toFixed(0),
    cpu.toFixed(2),
    ...(judge && (rss > LIMIT.rss || cpu > LIMIT.cpu) ? ['  over'] : []),
  ];
  const sum = (key) => services.reduce((total, service) => total + service[key], 0);
  const commit = `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : ''}`;
  const [{ model }, { length: cores }] = [cpus()[0], cpus()];
  console.log(
    [
      `Idle for ${elapsed.toFixed(0)} s after ${3 * WARM_UP} requests; at most ${LIMIT.rss} MB and ${LIMIT.cpu} % of a core are meant for each service.`,
      `${model}, ${cores} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GB; load ${load.toFixed(1)}; Node ${process.versions.node}; commit ${commit}`,
      ...(load > cores ? ['The machine was busy with other things: CPU figures are too high.'] : []),
      '',
      table([
        ['service', 'RSS MB', 'PSS MB', 'CPU %'],
        ...services.map((service) => row(service)),
        row({ name: 'sum', rss: sum('rss'), pss: sum('pss'), cpu: sum('cpu') }, false),
        ...figures.filter(({ name }) => others.includes(name)).map((other) => row(other, false)),
      ]),
      '',
      'RSS counts the pages of the Node program itself, some 55 MB, for every process; PSS divides what is shared. `postgres` is its first process only.',
    ].join('\n'),
  );
} finally {
  starter.kill('SIGTERM');
  const hurry = setTimeout(() => starter.kill('SIGKILL'), STOP_MS);
  const [code] = await ended;
  clearTimeout(hurry);
  rmSync(dataDir, { recursive: true, force: true });
  if (isReady && code !== 0) {
    console.error(`The services ended with ${code}:\n${said}`);
    process.exitCode = 1;
  }
}
