// `npm run kafka [-- --data=<folder>] [-- --port=<port>]`: a Kafka broker of this machine for development, in the foreground until Ctrl-C. Prints
// the line that makes the services and the tests use it. Its data and its port stay, by default in .cache/broker, and so do the topics.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, run } from './run.mjs';

const { values } = parseArgs({ options: { data: { type: 'string', default: join(ROOT, '.cache/broker') }, port: { type: 'string' } } });
if (values.port !== undefined && !/^[1-9]\d{0,4}$/.test(values.port)) {
  console.error(`--port must be a port, not ${values.port}.`);
  process.exit(2);
}
if (!run('tsc', ['-b', 'libs/local-kafka']).ok) process.exit(1);

const { startLocalKafka, LocalKafkaError } = await import('../libs/local-kafka/dist/index.js');
// The first signal may come while it starts: it ends the broker as soon as there is one.
let told;
const stopped = new Promise((resolved) => {
  told = resolved;
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => told(null));
try {
  const port = values.port === undefined ? {} : { port: Number(values.port) };
  const kafka = await startLocalKafka({ dataDir: resolve(values.data), ownGroup: true, ...port });
  console.log(`KAFKA_BROKERS=${kafka.brokers}`);
  console.log('Ctrl-C stops it.');
  const watch = setInterval(() => isRunning(kafka.pid) || told(`The broker ended by itself; see ${join(values.data, 'broker.log')}.`), 500);
  const fault = await stopped;
  clearInterval(watch);
  await kafka.stop();
  if (fault !== null) throw new LocalKafkaError(fault);
} catch (error) {
  console.error(error instanceof LocalKafkaError ? error.message : error);
  process.exitCode = 1;
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
