// The built page, as files. The token is never in it: the window has it from preload, a browser from the address's fragment.
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { PAGE_HEADERS } from './security/headers';

const YEAR_SECONDS = 31_536_000;
/** As Vite names built files: NAME-HASH.EXT. */
const HASHED = /-[\w-]{8,}\.\w+$/;

export async function pageRoutes(app: FastifyInstance, root: string): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' };
  });
  await app.register(fastifyStatic, {
    root,
    index: 'index.html',
    cacheControl: false,
    dotfiles: 'ignore',
    setHeaders: (reply, path) => {
      void reply.headers(PAGE_HEADERS);
      const forever = HASHED.test(path) && !path.endsWith('.html');
      void reply.header('cache-control', forever ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-store');
    },
  });
}
