import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

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
  fastify.addHook('onRequest', async (request, reply) => {
    if (isMistyped(request) && built()) return reply.code(404).sendFile('index.html');
  });
}

/** An address that leads nowhere, opened in a browser: the inbox says so on a page. Whoever does not ask for one is answered as everywhere. */
function isMistyped({ is404, method, url, headers }: FastifyRequest): boolean {
  const asksForPage = (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '');
  return is404 && asksForPage && !url.startsWith('/api/');
}
