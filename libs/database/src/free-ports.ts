import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below what systems hand out for outgoing connections (Linux from 32768, others from 49152). */
const FIRST = 20_000;
const END = 32_000;

/**
 * Ports of the loopback interface that nobody has now, and that nobody is given by chance while what listens there is started again. All are
 * held while they are chosen, so that none is chosen twice.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>();
  while (held.size < count) {
    const port = randomInt(FIRST, END);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      held.set(port, server);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
  await Promise.all([...held.values()].map((server) => new Promise((closed) => server.close(closed))));
  return [...held.keys()];
}
