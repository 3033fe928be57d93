/**
 * Where the broker's program comes from: the artifacts Apache publishes to Maven Central, copied once into the clone's cache.
 * Java and Maven are installed where that can be done without asking (Debian, as root).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const POM = join(ROOT, 'deploy/kafka/pom.xml');
const OLDEST_JAVA = 17;
const INSTALL_MS = 600_000;

/** What is missing, and how to get it. */
export class LocalKafkaError extends Error {
  override readonly name = 'LocalKafkaError';
}

/** @returns the folder of the broker's jars. @throws {LocalKafkaError} when they, Java or Maven cannot be had. */
export async function kafkaArtifacts(): Promise<string> {
  const version = /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(await readFile(POM, 'utf8'))?.[1];
  const folder = join(ROOT, '.cache/kafka', String(version));
  if (!(await hasJava()) || !(existsSync(folder) || (await answers('mvn', '-v')))) await install();
  if (existsSync(folder)) return folder;
  // Copied beside its place and moved there whole: a copy that was cut short is never taken for one.
  const copy = `${folder}.${process.pid}`;
  await mkdir(copy, { recursive: true });
  try {
    await run('mvn', ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${copy}`], { timeout: INSTALL_MS });
    await rename(copy, folder).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (error) {
    throw new LocalKafkaError(`Maven could not fetch Apache Kafka ${version}: ${(error as Error).message.slice(0, 500)}`, { cause: error });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return folder;
}

async function hasJava(): Promise<boolean> {
  const said = await run('java', ['-version']).catch(() => null);
  return Number(/version "(\d+)/.exec(said?.stderr ?? '')?.[1] ?? 0) >= OLDEST_JAVA;
}

const answers = (program: string, ...args: string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false,
  );

async function install(): Promise<void> {
  const packages = ['default-jre-headless', 'maven'];
  const debian = process.getuid?.() === 0 && (await answers('apt-get', '--version'));
  if (debian) {
    const options = { timeout: INSTALL_MS };
    // Another process may be at it.
    const apt = (...args: string[]) =>
      run('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-o', 'DPkg::Lock::Timeout=300', ...args], options).catch(() => {});
    await apt('update');
    await apt('install', '-y', '--no-install-recommends', ...packages);
  }
  if ((await hasJava()) && (await answers('mvn', '-v'))) return;
  throw new LocalKafkaError(
    `A local Kafka needs Java ${OLDEST_JAVA} or newer and Maven (on Debian: apt-get install ${packages.join(' ')}); or name brokers in KAFKA_BROKERS.`,
  );
}
