// Connections through a proxy: CONNECT for http:// and https:// ones, SOCKS5 (names are looked up by the proxy). Its name and password may
// stand in its address. It decides nothing about which requests go through it.
import { Agent as HttpAgent, request, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent, request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as secure, type ConnectionOptions } from 'node:tls';
import { HearthError } from '../../contract/errors';

export interface Proxy {
  kind: 'http' | 'socks5';
  secure: boolean;
  host: string;
  port: number;
  user?: string;
  password?: string;
}

const TUNNEL_MS = 20_000;

/** From the setting; undefined where there is none. Throws HearthError{invalid_request}. */
export function proxyOf(setting: string): Proxy | undefined {
  const text = setting.trim();
  if (text === '') return undefined;
  const bad = () =>
    new HearthError('invalid_request', 'The proxy must be an address such as http://host:port or socks5://host:port.', {
      param: 'proxy',
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw bad();
  }
  const kind = { 'http:': 'http', 'https:': 'http', 'socks5:': 'socks5', 'socks5h:': 'socks5' }[url.protocol];
  if (kind === undefined || url.hostname === '') throw bad();
  const usual = { 'http:': 80, 'https:': 443 }[url.protocol] ?? 1080;
  return {
    kind: kind as Proxy['kind'],
    secure: url.protocol === 'https:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? usual : Number(url.port),
    ...(url.username !== '' && { user: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
  };
}

interface Target {
  host: string;
  port: number;
}

type Connected = (error: Error | null, socket?: Duplex) => void;

/** Agents whose sockets are tunnels. */
export function throughProxy(proxy: Proxy, keep: AgentOptions): { http: HttpAgent; https: HttpsAgent } {
  const target = (options: { host?: string | null; port?: number | string | null }, port: number): Target => ({
    host: options.host ?? '',
    port: Number(options.port ?? port),
  });
  const http = new HttpAgent(keep);
  const https = new HttpsAgent(keep);
  // Node calls this with a callback and takes the socket from either; its type knows only some of that.
  Object.assign(http, {
    createConnection: (options: ConnectionOptions, done: Connected) => {
      tunnel(proxy, target(options, 80)).then((socket) => done(null, socket), done);
    },
  });
  Object.assign(https, {
    createConnection: (options: ConnectionOptions, done: Connected) => {
      tunnel(proxy, target(options, 443)).then((socket) => done(null, secure({ ...options, socket })), done);
    },
  });
  return { http, https };
}

function tunnel(proxy: Proxy, target: Target): Promise<Socket> {
  return proxy.kind === 'socks5' ? socksTunnel(proxy, target) : httpTunnel(proxy, target);
}

const failed = (proxy: Proxy, why: string) =>
  new HearthError('unreachable', `The proxy ${proxy.host}:${proxy.port} ${why}.`);

function httpTunnel(proxy: Proxy, { host, port }: Target): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const { user, password = '' } = proxy;
  const credentials = user === undefined ? undefined : Buffer.from(`${user}:${password}`).toString('base64');
  return new Promise((resolve, reject) => {
    const asked = (proxy.secure ? secureRequest : request)({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      timeout: TUNNEL_MS,
      headers: { host: authority, ...(credentials !== undefined && { 'proxy-authorization': `Basic ${credentials}` }) },
    });
    asked.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(failed(proxy, `refused the connection (status ${statusCode})`));
    });
    asked.once('response', (answer) => {
      answer.destroy();
      reject(failed(proxy, `answered with status ${answer.statusCode}`));
    });
    asked.once('timeout', () => asked.destroy(new Error('timeout')));
    asked.once('error', (error) => reject(failed(proxy, `could not be reached: ${error.message}`)));
    asked.end();
  });
}

/** Exactly `length` bytes of what a socket sends; what comes after stays in it. */
async function take(socket: Socket, length: number): Promise<Buffer> {
  let held = Buffer.alloc(0);
  for (;;) {
    // Everything, and the rest put back: a listener for `readable` is called again and again while anything is left unread.
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) held = Buffer.concat([held, bytes]);
    if (held.length > length) socket.unshift(held.subarray(length));
    if (held.length >= length) return held.subarray(0, length);
    if (socket.destroyed || socket.readableEnded) throw new Error('the connection ended');
    await readable(socket);
  }
}

function readable(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (error?: Error) => {
      for (const event of ['readable', 'end', 'close'] as const) socket.off(event, proceed);
      socket.off('error', stop);
      if (error) reject(error);
      else resolve();
    };
    const proceed = () => stop();
    for (const event of ['readable', 'end', 'close'] as const) socket.once(event, proceed);
    socket.once('error', stop);
  });
}

const text = (value: string) => {
  const bytes = Buffer.from(value, 'utf8');
  if (bytes.length > 255) throw new Error('a name is too long');
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
};

async function greet(socket: Socket, { user, password = '' }: Proxy): Promise<void> {
  socket.write(user === undefined ? Buffer.of(5, 1, 0) : Buffer.of(5, 2, 0, 2));
  const method = (await take(socket, 2))[1];
  if (method === 0) return;
  if (method !== 2 || user === undefined) throw new Error('it asks for a name and a password');
  socket.write(Buffer.concat([Buffer.of(1), text(user), text(password)]));
  if ((await take(socket, 2))[1] !== 0) throw new Error('it does not know this name and password');
}

async function socksTunnel(proxy: Proxy, { host, port }: Target): Promise<Socket> {
  const socket = connect({ host: proxy.host, port: proxy.port });
  const timer = setTimeout(() => socket.destroy(new Error('timeout')), TUNNEL_MS);
  try {
    await greet(socket, proxy);
    socket.write(Buffer.concat([Buffer.of(5, 1, 0, 3), text(host), Buffer.of(port >> 8, port & 255)]));
    const [, status, , kind] = await take(socket, 4);
    if (status !== 0) throw new Error(`it could not reach ${host} (reason ${status})`);
    // The bound address says nothing to us, and must be taken off the stream.
    const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await take(socket, 1))[0] ?? 0);
    await take(socket, length + 2);
    return socket;
  } catch (error) {
    socket.destroy();
    throw failed(proxy, `failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}
