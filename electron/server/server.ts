// Puts the server together: one Fastify instance behind the guard, its routes, one way of answering failures, two loopback addresses.
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { HearthError } from '../contract/errors';
import { acceptJson } from './body';
import { createContext, type ServerContext } from './context';
import { fromThrown, MAX_BODY_BYTES, openAiError, ownError, retryAfter } from './errors';
import { healthRoutes } from './health';
import { Listener } from './listen';
import { NetworkListener } from './network';
import { openAiRoutes } from './openai/routes';
import { ownRoutes } from './own/routes';
import { addGuard } from './security/guard';
import { pageRoutes } from './page';
import { newRequestId } from './request-id';
import { RouteList } from './route-list';
import { sharedRoutes } from './shared';
import { sharingRoutes } from './own/sharing';
import { Turns } from './turns/turns';
import type { Server, ServerOptions } from './types';

/** Longer than a client keeps an idle connection, so that it is never us who close it under its next request. */
const KEEP_ALIVE_MS = 75_000;
/** For a client to send its request; the answer may take as long as it takes. */
const RECEIVE_MS = 120_000;
/** A deleted chat can be taken back for so long. */
const TRASH_MS = 30 * 24 * 3_600_000;

function answerError(context: ServerContext, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = fromThrown(thrown);
  if (error.status >= 500) {
    const cause = error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : undefined;
    context.log?.error(`${request.method} ${request.routeOptions.url ?? 'unknown address'}: ${error.message}`, {
      cause,
    });
  }
  const seconds = retryAfter(error);
  if (seconds !== undefined) reply.header('retry-after', seconds);
  const own = /^\/hearth(\/|$)/i.test(request.raw.url ?? '');
  void reply
    .code(error.status)
    .type('application/json; charset=utf-8')
    .send(own ? ownError(error) : openAiError(error));
}

/** An address that exists, asked in a way that it does not answer, is told apart from one that does not exist. */
function notFound(routes: RouteList, request: FastifyRequest, reply: FastifyReply): never {
  const path = request.raw.url?.split('?', 1)[0] ?? '';
  const allowed = routes.methodsOf(path);
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    void reply.header('allow', allowed.join(', '));
    throw new HearthError(
      'method_not_allowed',
      `This address answers ${allowed.join(' and ')}, not ${request.method}.`,
    );
  }
  throw new HearthError('not_found', 'There is nothing at this address.');
}

function createApp(): FastifyInstance {
  return Fastify({
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: RECEIVE_MS,
    // A stream has no head of its own.
    exposeHeadRoutes: false,
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { maxParamLength: 1000 },
    forceCloseConnections: true,
    // What Node's parser refuses never reaches a route; it gets the same kind of answer.
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
      const body = JSON.stringify(openAiError(new HearthError('invalid_request', 'The HTTP request is malformed.')));
      const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
      socket.end(`HTTP/1.1 400 Bad Request\r\n${head}\r\n\r\n${body}`);
    },
    frameworkErrors: (error, request, reply) => {
      void (reply as FastifyReply).code(400).send(openAiError(fromThrown(error)));
    },
  });
}

function addMeasuring(app: FastifyInstance, context: ServerContext): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { url: route = 'none' } = request.routeOptions;
    context.telemetry?.request?.({ route, method: request.method, status: reply.statusCode, ms: reply.elapsedTime });
  });
}

/** Opens nothing yet: `listen` does. The settings are read here once. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const listener = new Listener();
  const network = new NetworkListener((text) => options.log?.warn(text));
  const context = createContext(options, await options.store.settings(), () => listener.port);
  const app = createApp();
  const turns = new Turns(context);
  const routes = new RouteList(app);
  acceptJson(app);
  addMeasuring(app, context);
  addGuard(app, {
    ...options,
    port: context.port,
    allowedOrigins: () => context.settings().allowedOrigins,
    shareKey: () => options.sharing?.key.key,
  });
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(context, error, request, reply));
  app.setNotFoundHandler((request, reply) => notFound(routes, request, reply));
  await app.register(async (scope) => openAiRoutes(scope, context), { prefix: '/v1' });
  ownRoutes(app, context, turns);
  const share = () => network.follow(app, options.sharing?.key.on ? listener.port : 0);
  if (options.sharing) {
    sharedRoutes(app, options.sharing);
    sharingRoutes(app, options.sharing, { urls: () => network.urls(), changed: share });
  }
  healthRoutes(app, context);
  if (options.staticDir !== undefined) await app.register(async (scope) => pageRoutes(scope, options.staticDir ?? ''));
  await app.ready();
  await options.store.purgeChats(Date.now() - TRASH_MS);
  return {
    listen: async (port, listenOptions = {}) => {
      const listening = await listener.listen(app, port, listenOptions);
      await share();
      return listening;
    },
    close: async () => {
      await turns.close();
      await network.close();
      await listener.close();
      await app.close();
    },
  };
}
