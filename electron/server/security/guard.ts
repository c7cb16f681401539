// The door: every request, answered or not found, passes here before its body is read. Host, then origin, then token or key; on the network
// a key, and then only what is meant for it.
// A route says in its config what it asks for; one that says nothing asks for the token.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HearthError } from '../../contract/errors';
import { checkAccess, type Access, type AccessCheck } from './access';
import { COMMON_HEADERS } from './headers';
import { hostOf, isLoopbackAddress, isLoopbackHost } from './hosts';
import { isHiddenCrossSite, originKind } from './origins';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Pages of allowed origins may use it. */
    shared?: boolean;
    /** Answered on the network, too, and not on this machine alone. */
    network?: boolean;
  }
  interface FastifyRequest {
    cacheScope: string;
  }
}

export interface GuardOptions extends AccessCheck {
  port(): number;
  allowedOrigins(): readonly string[];
}

interface Rule {
  access: Access;
  shared: boolean;
}

/** Routes are matched after decoding, so that rules must be as well. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Prefixes, for addresses that no route answers: a stranger must not learn there what exists. */
function unroutedRule(url: string): Rule {
  const path = decoded(url.split(/[?#]/, 1)[0] ?? '').replace(/\/+/g, '/');
  if (/^\/(v1|api)(\/|$)/i.test(path)) return { access: 'key', shared: true };
  if (/^\/hearth(\/|$)/i.test(path)) return { access: 'token', shared: false };
  return { access: 'public', shared: false };
}

function ruleOf(request: FastifyRequest): Rule {
  const { url, config } = request.routeOptions;
  // The page's files answer every address that nothing else does: they are no way round the rules of those addresses.
  if (url === undefined || url === '/*') return unroutedRule(request.raw.url ?? '');
  return { access: config.access ?? 'token', shared: config.shared ?? false };
}

const PREFLIGHT_SECONDS = '600';

/** A preflight carries no key; it is answered for allowed origins alone, whatever headers it asks for. */
function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  const asked = request.headers['access-control-request-headers'];
  reply.header('access-control-allow-methods', 'GET, POST, PATCH, DELETE, OPTIONS');
  if (typeof asked === 'string' && /^[\w\-, ]{1,4000}$/.test(asked))
    reply.header('access-control-allow-headers', asked);
  // A page from the internet asks for this before it may talk to a computer's own addresses.
  if (request.headers['access-control-request-private-network'] === 'true') {
    reply.header('access-control-allow-private-network', 'true');
  }
  reply.header('access-control-max-age', PREFLIGHT_SECONDS).code(204).send();
}

function checkOrigin(request: FastifyRequest, reply: FastifyReply, rule: Rule, options: GuardOptions): void {
  reply.header('vary', 'origin');
  const { origin } = request.headers;
  const kind = originKind(origin, { port: options.port(), allowed: options.allowedOrigins() });
  if (kind === 'none' && !isHiddenCrossSite(request.headers)) return;
  if (kind === 'own') return;
  if (kind === 'allowed' && rule.shared) {
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', 'x-request-id, x-hearth-model-id, x-hearth-engine, x-hearth-mesh');
    reply.header('cross-origin-resource-policy', 'cross-origin');
    return;
  }
  throw new HearthError('forbidden_origin', 'Pages of other sites may not use this address.');
}

/**
 * From another machine. Nothing is there but what is meant for it, and a key is always asked for: before that nobody learns whether an
 * address exists. Programs ask; a page has no business there, whatever name it uses.
 */
async function checkNetwork(request: FastifyRequest, options: GuardOptions): Promise<void> {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin !== undefined || site !== undefined) {
    throw new HearthError('forbidden_origin', 'Pages may not use this address.');
  }
  request.cacheScope = await checkAccess('share', request.headers.authorization, options);
  const { url, config } = request.routeOptions;
  if (url === undefined || config.network !== true) {
    throw new HearthError('not_found', 'There is nothing at this address.');
  }
}

export function addGuard(app: FastifyInstance, options: GuardOptions): void {
  app.decorateRequest('cacheScope', '');
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(COMMON_HEADERS);
    if (!isLoopbackAddress(request.raw.socket.localAddress)) return checkNetwork(request, options);
    if (!isLoopbackHost(hostOf(request.raw.rawHeaders))) {
      throw new HearthError('forbidden_host', 'This address is not called by that name.');
    }
    const rule = ruleOf(request);
    checkOrigin(request, reply, rule, options);
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
      answerPreflight(request, reply);
      return reply;
    }
    request.cacheScope = await checkAccess(rule.access, request.headers.authorization, options);
  });
}
