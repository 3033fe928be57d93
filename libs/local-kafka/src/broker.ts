/**
 * A Kafka of one node on the loopback interface (KRaft, broker and controller in one process), on a folder of its own.
 *
 * L1 It is one process of this one's: `stop()`, or the end of this process, ends it. Where this process is killed, a shell that waits for the
 *    end of a pipe this process holds does; should that be killed too, the next start on the folder.
 * L2 What was acknowledged survives `kill()`: the next `start()` on the same folder and port has it.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '@countersign/database';
import { kafkaArtifacts, LocalKafkaError } from './artifacts.js';
import type { KeyStore } from './certificate.js';

const run = promisify(execFile);
const START_MS = 90_000;
const STOP_MS = 20_000;

export interface LocalKafkaOptions {
  dataDir: string;
  /** Port of the clients' listener; a free one when omitted. Kept in the folder: a later start uses it again. */
  port?: number;
  /** Settings of the broker beside those a single node needs. */
  settings?: Record<string, string>;
  /** In a process group of its own: a Ctrl-C meant for this program does not reach the broker before its clients have gone. */
  ownGroup?: boolean;
  /** Clients must come by TLS and with one of these names and passwords (SCRAM-SHA-256). */
  security?: { keyStore: KeyStore; users: Record<string, string> };
}

export interface LocalKafka {
  /** `127.0.0.1:<port>`, as KAFKA_BROKERS takes it. */
  brokers: string;
  readonly pid: number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGSTOP, or SIGCONT: the broker answers nobody, and then goes on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** After `kill` or `stop`: resolves when clients are served again. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Ports {
  client: number;
  controller: number;
  /** Of the broker for itself, where clients must say who they are. */
  internal: number;
}

/** Formats the folder when it is new, and starts. @throws {LocalKafkaError} what is missing, or why the broker does not come up. */
export async function startLocalKafka(options: LocalKafkaOptions): Promise<LocalKafka> {
  const jars = join(await kafkaArtifacts(), '*');
  const { dataDir } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await endPredecessor(dataDir);
  const ports = await portsOf(options);
  const properties = join(dataDir, 'server.properties');
  await writeFile(
    properties,
    Object.entries(settings(options, ports))
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  );
  const java = (heap: string, main: string, ...args: string[]) => [
    `-Xmx${heap}`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    jars,
    main,
    ...args,
  ];
  if (!existsSync(join(dataDir, 'log', 'meta.properties')))
    await format(options, (...args) => run('java', java('128m', 'kafka.tools.StorageTool', ...args)), properties);

  let child: ChildProcess | undefined;
  const gone = async () => {
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const endWithUs = () => child?.kill('SIGKILL');
  process.once('exit', endWithUs);

  const kafka: LocalKafka = {
    brokers: `127.0.0.1:${ports.client}`,
    get pid() {
      return child?.pid as number;
    },
    async kill() {
      child?.kill('SIGKILL');
      await gone();
    },
    signal(name) {
      child?.kill(name);
    },
    async start() {
      await gone();
      const log = openSync(join(dataDir, 'broker.log'), 'a');
      child = spawn('java', java('384m', 'kafka.Kafka', properties), {
        detached: options.ownGroup === true,
        stdio: ['ignore', log, log],
      });
      endAfterUs(child);
      await writeFile(join(dataDir, 'broker.pid'), String(child.pid));
      await served(child, ports.client, join(dataDir, 'broker.log'));
    },
    async stop() {
      child?.kill('SIGTERM');
      const hurry = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
      await gone();
      clearTimeout(hurry);
      process.removeListener('exit', endWithUs);
    },
  };
  await kafka.start();
  return kafka;
}

/** L1. Java looks at no channel that would tell it of our end, and a process that is killed runs nothing: the pipe is closed by the kernel. */
function endAfterUs(broker: ChildProcess): void {
  const shell = spawn('sh', ['-c', 'read -r _; kill -KILL "$0"', String(broker.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  // Its number may be another's before long.
  broker.once('exit', () => shell.kill('SIGKILL'));
}

function settings({ dataDir, security, settings: own = {} }: LocalKafkaOptions, ports: Ports): Record<string, string> {
  const { client, controller } = ports;
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `CLIENT://127.0.0.1:${client},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${client}`,
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'CLIENT',
    'log.dirs': join(dataDir, 'log'),
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    // A broker that was killed waits for its old session before it serves again.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '250',
    'log.flush.interval.messages': '10000',
    ...(security && securitySettings(security, ports)),
    ...own,
  };
}

function securitySettings(
  { keyStore }: NonNullable<LocalKafkaOptions['security']>,
  { client, controller, internal }: Ports,
): Record<string, string> {
  return {
    listeners: `CLIENT://127.0.0.1:${client},CONTROLLER://127.0.0.1:${controller},INTERNAL://127.0.0.1:${internal}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${client},INTERNAL://127.0.0.1:${internal}`,
    'listener.security.protocol.map': 'CLIENT:SASL_SSL,CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT',
    'inter.broker.listener.name': 'INTERNAL',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-256',
    'listener.name.client.scram-sha-256.sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.keystore.type': 'PKCS12',
    'ssl.keystore.location': keyStore.file,
    'ssl.keystore.password': keyStore.password,
  };
}

async function format(options: LocalKafkaOptions, tool: (...args: string[]) => Promise<unknown>, properties: string): Promise<void> {
  // The tool takes a value that begins with a dash for an option.
  const cluster = randomBytes(16).toString('base64url').replace(/^-/, 'A');
  const users = Object.entries(options.security?.users ?? {}).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-256=[name=${name},password=${password}]`,
  ]);
  await tool('format', '-t', cluster, '-c', properties, ...users);
}

/** Resolves once the broker has said that it started, and takes connections. */
async function served(child: ChildProcess, port: number, log: string): Promise<void> {
  for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const tail = (await readFile(log, 'utf8')).trim().split('\n').slice(-5).join('\n');
      throw new LocalKafkaError(`The Kafka broker ended as it started (code ${child.exitCode}); the end of ${log}:\n${tail}`);
    }
    if (await listens(port)) return;
    if (Date.now() > deadline) throw new LocalKafkaError(`The Kafka broker takes no connections after ${START_MS / 1000} s; see ${log}.`);
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** L1: only a process that runs on this very folder. */
async function endPredecessor(dataDir: string): Promise<void> {
  const pid = Number(await readFile(join(dataDir, 'broker.pid'), 'utf8').catch(() => ''));
  if (!pid) return;
  const command = await run('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  if (!command.stdout.includes(join(dataDir, 'server.properties'))) return;
  process.kill(pid, 'SIGKILL');
  while ((await run('ps', ['-o', 'pid=', '-p', String(pid)]).catch(() => null)) !== null) await sleep(20);
}

async function portsOf({ dataDir, port }: LocalKafkaOptions): Promise<Ports> {
  const file = join(dataDir, 'ports.json');
  const known = await readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Partial<Ports>,
    () => null,
  );
  const [client, controller, internal] = (await freePorts(3)) as [number, number, number];
  const ports = { client, controller, internal, ...known };
  if (port !== undefined) ports.client = port;
  await writeFile(file, JSON.stringify(ports));
  return ports;
}
