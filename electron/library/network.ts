// The one door to the outside: every request that leaves this machine goes through it. It obeys offline mode before a name is looked up,
// goes through the proxy, follows redirects without taking a key along, and writes each connection into the ledger.
// It knows neither the hub nor downloads, and retries nothing.
import { request as httpRequest, Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { HearthError } from '../contract/errors';
import type { Connection } from '../contract/models';
import type { Ledger } from './network/ledger';
import { isLocalHost, redirectTarget } from './network/addresses';
import { proxyOf, throughProxy } from './network/proxy';

export interface NetworkSettings {
  offline: boolean;
  /** http://, https:// or socks5://; empty: none. */
  proxy: string;
}

export interface NetworkRequest {
  url: string;
  purpose: Connection['purpose'];
  /** What for, for the ledger: never a secret. */
  detail: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Sent to the origin of `url` alone, whatever it redirects to. */
  bearer?: string;
  signal?: AbortSignal;
  /** Until the answer's head is here; absent: 30 s. */
  headMs?: number;
  /** Until a connection stands; absent: as long as for the head. */
  connectMs?: number;
  /** False: an answer that points elsewhere is given as it is, and what was sent goes nowhere else. */
  redirects?: boolean;
}

export interface NetworkAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** After redirects. */
  url: URL;
  /** To be read to its end or destroyed. */
  body: IncomingMessage;
}

export interface Network {
  /** Throws HearthError{offline | unreachable | hub_failed}, and the signal's reason. Any status is an answer. */
  open(request: NetworkRequest): Promise<NetworkAnswer>;
  close(): void;
}

export interface NetworkOptions {
  settings(): NetworkSettings;
  ledger: Ledger;
  /** How names become addresses, for tests. */
  lookup?: LookupFunction;
}

const HEAD_MS = 30_000;
const MAX_REDIRECTS = 5;

interface Agents {
  http: HttpAgent;
  https: HttpsAgent;
}

class Door implements Network {
  private readonly agents = new Map<string, Agents>();
  /** Bytes of each socket that are in the ledger. */
  private readonly told = new WeakMap<Socket, number>();

  constructor(private readonly options: NetworkOptions) {}

  async open(request: NetworkRequest): Promise<NetworkAnswer> {
    let url = new URL(request.url);
    let { bearer } = request;
    const seen = new Set<string>();
    for (;;) {
      const answer = await this.once({ ...request, bearer }, url);
      const location = answer.headers.location;
      const pointsElsewhere = location !== undefined && [301, 302, 303, 307, 308].includes(answer.status);
      if (!pointsElsewhere || request.redirects === false) return answer;
      answer.body.destroy();
      seen.add(url.href);
      const next = redirectTarget(url, location);
      if (seen.size > MAX_REDIRECTS || seen.has(next.href)) {
        throw new HearthError('hub_failed', `${url.host} redirects in a circle.`);
      }
      if (next.origin !== url.origin) bearer = undefined;
      url = next;
    }
  }

  private async once(request: NetworkRequest, url: URL): Promise<NetworkAnswer> {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new HearthError('unreachable', `Only http and https addresses can be reached, not ${url.protocol}`);
    }
    const { ledger, settings } = this.options;
    const local = isLocalHost(url.hostname);
    const { offline, proxy } = settings();
    const { purpose, detail } = request;
    const note = (outcome: Connection['outcome'], bytes = 0) => {
      if (!local) ledger.add({ host: url.host, purpose, detail, outcome, bytes });
    };
    if (offline && !local) {
      note('refused');
      throw new HearthError('offline', `Offline mode is on: ${url.hostname} was not contacted.`);
    }
    try {
      const answer = await this.send(request, url, this.agentsFor(local ? '' : proxy));
      const { socket } = answer.body;
      answer.body.once('close', () => {
        // A socket carries one request after the other.
        note('ok', socket.bytesRead - (this.told.get(socket) ?? 0));
        this.told.set(socket, socket.bytesRead);
      });
      return answer;
    } catch (error) {
      request.signal?.throwIfAborted();
      note('failed');
      throw unreachable(url, error);
    }
  }

  private agentsFor(proxy: string): Agents {
    const known = this.agents.get(proxy);
    if (known) return known;
    const keep = { keepAlive: true, keepAliveMsecs: 10_000, timeout: 60_000 };
    const through = proxyOf(proxy);
    const agents = through ? throughProxy(through, keep) : { http: new HttpAgent(keep), https: new HttpsAgent(keep) };
    this.agents.set(proxy, agents);
    return agents;
  }

  private send(request: NetworkRequest, url: URL, agents: Agents): Promise<NetworkAnswer> {
    const { method = 'GET', body, bearer, signal, headMs = HEAD_MS, connectMs = headMs } = request;
    const secure = url.protocol === 'https:';
    const options = {
      method,
      signal,
      agent: secure ? agents.https : agents.http,
      ...(this.options.lookup && { lookup: this.options.lookup }),
      headers: {
        'user-agent': 'hearth',
        // What is fetched is counted and hashed: nobody is to pack it on the way.
        'accept-encoding': 'identity',
        ...request.headers,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
    };
    return new Promise((resolve, reject) => {
      const sent = (secure ? httpsRequest : httpRequest)(url, options, (message) => {
        clearTimeout(timer);
        // A body that breaks off while nobody reads it must not end the process; readers hear of it by themselves.
        message.on('error', () => undefined);
        resolve({ status: message.statusCode ?? 0, headers: message.headers, url, body: message });
      });
      const timer = setTimeout(() => sent.destroy(timedOut(headMs)), headMs);
      const connecting = setTimeout(() => sent.destroy(timedOut(connectMs)), connectMs);
      sent.on('socket', (socket) => {
        const stands = () => clearTimeout(connecting);
        if (socket.connecting) socket.once('connect', stands);
        else stands();
      });
      sent.on('error', (error) => {
        clearTimeout(timer);
        clearTimeout(connecting);
        reject(error);
      });
      sent.end(body);
    });
  }

  close(): void {
    for (const { http, https } of this.agents.values()) {
      http.destroy();
      https.destroy();
    }
  }
}

const timedOut = (ms: number) =>
  Object.assign(new Error(`no answer for ${Math.round(ms / 1000)} s`), { code: 'ETIMEDOUT' });

function unreachable(url: URL, cause: unknown): HearthError {
  if (cause instanceof HearthError) return cause;
  const why = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(cause);
  return new HearthError('unreachable', `${url.host} could not be reached: ${why}.`, { cause });
}

const AWAY = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'ETIMEDOUT'];

/** Whether `unreachable` means that no server was reached at all: the network is away, and may come back. */
export function isAway({ cause }: HearthError): boolean {
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  return errors.some((error) => AWAY.includes((error as NodeJS.ErrnoException | undefined)?.code ?? ''));
}

export function createNetwork(options: NetworkOptions): Network {
  return new Door(options);
}

const MAX_JSON_BYTES = 32 * 1024 ** 2;

/** The body as JSON, of bounded length. Throws HearthError{hub_failed | unreachable}. */
export async function readJson(answer: NetworkAnswer): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MAX_JSON_BYTES) {
        answer.body.destroy();
        throw new HearthError('hub_failed', `${answer.url.host} sent more than can be read.`);
      }
      parts.push(part);
    }
  } catch (error) {
    throw unreachable(answer.url, error);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch (cause) {
    throw new HearthError('hub_failed', `${answer.url.host} sent a page where data was expected.`, { cause });
  }
}
