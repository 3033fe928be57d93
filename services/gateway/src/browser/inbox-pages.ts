import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Addresses the inbox draws itself, once its one page is loaded. */
const PAGES = ['/', '/login', '/reviews', '/reviews/*', '/invite'];
const NOT_BUILT = 'The inbox has not been built. Run `npm run build` and restart. The API is available.\n';

/** Serves the inbox's build. Files named by their content are kept for a year, the page itself is asked for each time. */
export async function serveInbox(fastify: FastifyInstance, directory: string): Promise<void> {
  const built = () => existsSync(join(directory, 'index.html'));
  if (built()) {
    await fastify.register(fastifyStatic, {
      root: directory,
      wildcard: false,
      index: false,
      setHeaders: (reply, path) => {
        const named = path.includes(`${join(directory, 'assets')}`);
        reply.header('Cache-Control', named ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  }
  const page = async (_: unknown, reply: FastifyReply) =>
    built() ? reply.sendFile('index.html') : reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  for (const path of PAGES) fastify.get(path, page);
}
