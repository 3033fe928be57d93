import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { CannotStart, systemCode } from './cannot-start.js';

/**
 * Finds out before anything is started whether the address can be listened on; somebody may still take it until we do.
 * @returns the port: a free one for 0.
 * @throws {CannotStart} when it cannot.
 */
export async function checkAddress(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, 'listening');
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    throw addressError(error, host, port);
  } finally {
    await new Promise((done) => probe.close(done));
  }
}

/** The sentence for a refused `listen`; any other error as it is. */
export function addressError(error: unknown, host: string, port: number): unknown {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return new CannotStart(`Port ${port} on ${host} is already in use. Stop the other program, or set PORT to a free port.`, {
        cause: error,
      });
    case 'EACCES':
      return new CannotStart(`Permission denied for port ${port}. Set PORT to a port above 1023.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new CannotStart(`HOST ${host} is not a local address. Set HOST to one, such as 127.0.0.1.`, { cause: error });
    default:
      return error;
  }
}

export function urlOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

/** Where the inbox exchanges a one-time link's token. It stands in the fragment: it reaches the page, and no log on the way. */
export function signInUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}/login#link=${token}`;
}
