// Which addresses there are and which methods they answer. It routes nothing: Fastify does.
import type { FastifyInstance } from 'fastify';

const pattern = (url: string) =>
  new RegExp(
    `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`,
  );

export class RouteList {
  private readonly routes: { method: string; url: string; pattern: RegExp }[] = [];

  /** Before any route is added. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) {
        if (one !== 'HEAD') this.routes.push({ method: one, url, pattern: pattern(url) });
      }
    });
  }

  methodsOf(path: string): string[] {
    const found = this.routes.filter((route) => route.url !== '/*' && route.pattern.test(path));
    return [...new Set(found.map((route) => route.method))];
  }

  list(): { method: string; url: string }[] {
    return this.routes.map(({ method, url }) => ({ method, url }));
  }
}
