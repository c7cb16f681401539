// The two loopback addresses, one port. Never any other address: those of the network are network.ts's.
import type { FastifyInstance } from 'fastify';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import { HearthError } from '../contract/errors';
import type { ListenOptions, Listening } from './types';

export type { HttpServer };

const LAST_PORT = 65_535;
/** Ports tried after the wanted one. */
const TRIES = 50;

const codeOf = (error: unknown) => (error as { code?: string }).code;
/** Windows says EACCES for ports that it has set aside. */
const isTaken = (error: unknown) => codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** One more server for the same routes. */
export function another(app: FastifyInstance): HttpServer {
  const { keepAliveTimeout, headersTimeout, requestTimeout } = app.server;
  const options = { keepAliveTimeout, headersTimeout, requestTimeout };
  const server = createServer(options, app.routing as unknown as Handler);
  for (const listener of app.server.listeners('clientError')) server.on('clientError', listener as () => void);
  return server;
}

export function bind(server: HttpServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, ipv6Only: host.includes(':') }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

export function end(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export class Listener {
  port = 0;
  private first: HttpServer | undefined;
  private second: HttpServer | undefined;

  async listen(app: FastifyInstance, wanted: number, { nextFree = false }: ListenOptions): Promise<Listening> {
    const last = nextFree && wanted !== 0 ? Math.min(LAST_PORT, wanted + TRIES) : wanted;
    for (let port = wanted; ; port++) {
      try {
        return await this.listenAt(app, port);
      } catch (error) {
        if (!isTaken(error)) throw error;
        if (port < last) continue;
        const words =
          nextFree && wanted !== last
            ? `The ports ${wanted} to ${last} are taken.`
            : `Port ${wanted} is taken by another program.`;
        throw new HearthError('port_in_use', words, { cause: error });
      }
    }
  }

  /** A port counts as free only where both addresses have it: `localhost` may mean either. */
  private async listenAt(app: FastifyInstance, wanted: number): Promise<Listening> {
    await bind(app.server, '127.0.0.1', wanted);
    const { port } = app.server.address() as { port: number };
    try {
      this.second = await this.listenV6(app, port);
    } catch (error) {
      await end(app.server);
      throw error;
    }
    this.first = app.server;
    this.port = port;
    return { url: `http://127.0.0.1:${port}`, port, ipv6: this.second !== undefined };
  }

  private async listenV6(app: FastifyInstance, port: number): Promise<HttpServer | undefined> {
    const server = another(app);
    try {
      await bind(server, '::1', port);
      return server;
    } catch (error) {
      // A machine without IPv6.
      if (!isTaken(error)) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    const servers = [this.first, this.second].filter((server) => server !== undefined);
    this.first = this.second = undefined;
    await Promise.all(servers.map(end));
  }
}
