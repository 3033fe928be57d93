import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector that takes what it is sent and keeps nothing of it. */
export async function startSink(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': request.headers['content-type'] ?? 'application/json' }).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
