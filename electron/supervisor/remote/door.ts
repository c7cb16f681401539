// The way to an engine elsewhere: one request over one connection, with limits on connecting and on waiting for the head. Offline mode is
// obeyed before a name is looked up, redirects are given back and never followed. It reads no body.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { HearthError } from '../../contract/errors';
import type { Connection } from '../../contract/models';
import type { Door, DoorAnswer, DoorRequest } from './client';

export interface DoorOptions {
  isOffline(): Promise<boolean>;
  /** Told of every connection off this machine, also of those that were not made. */
  note?(connection: Omit<Connection, 'at' | 'count'>): void;
}

/** Loopback by its name or number; a name that only resolves to it is not, since nobody looks it up to find out. */
export function isThisMachine(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1';
}

export function createDoor({ isOffline, note }: DoorOptions): Door {
  return {
    open: async (request) => {
      const url = new URL(request.url);
      const away = !isThisMachine(url.hostname);
      const { purpose, detail } = request;
      const tell = (outcome: Connection['outcome'], bytes = 0) => {
        if (away) note?.({ host: url.host, purpose, detail, outcome, bytes });
      };
      if (away && (await isOffline())) {
        tell('refused');
        throw new HearthError('offline', `Offline mode is on: ${url.hostname} was not contacted.`);
      }
      request.signal?.throwIfAborted();
      try {
        const body = await send(request, url);
        const { socket } = body;
        body.once('close', () => tell('ok', socket.bytesRead));
        return { status: body.statusCode ?? 0, headers: body.headers, body } satisfies DoorAnswer;
      } catch (error) {
        request.signal?.throwIfAborted();
        tell('failed');
        const { message, code } = error as NodeJS.ErrnoException;
        throw new HearthError('unreachable', `${url.host} could not be reached: ${message || code}.`, { cause: error });
      }
    },
  };
}

function send(request: DoorRequest, url: URL): Promise<IncomingMessage> {
  const { method = 'GET', headers, body, bearer, signal, connectMs, headMs } = request;
  return new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = open(url, {
      method,
      // No connection is shared: letting go of an answer closes its own.
      agent: false,
      ...(signal && { signal }),
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
    });
    const late = (ms: number | undefined, what: string) =>
      ms === undefined ? undefined : setTimeout(() => sent.destroy(new Error(`no ${what} for ${ms} ms`)), ms);
    const timers = [late(headMs, 'answer')];
    const connecting = late(connectMs, 'connection');
    sent.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => clearTimeout(connecting));
      else clearTimeout(connecting);
    });
    const end = () => [...timers, connecting].forEach((timer) => clearTimeout(timer));
    sent.on('error', (error) => {
      end();
      reject(error);
    });
    sent.on('response', (message) => {
      end();
      // A body that breaks off while nobody reads it must not end the process; its reader hears of it.
      message.on('error', () => undefined);
      resolve(message);
    });
    sent.end(body);
  });
}
