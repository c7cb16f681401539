// What a person typed about a remote engine, as the request that adds it. Pure.
import type { RemoteEngineRequest } from '@contract/models';

interface Fields {
  name: string;
  url: string;
  key: string;
}

/** People paste addresses without `http://` and with or without `/v1`. Undefined: it is no address yet. */
export function engineRequest({ name, url, key }: Fields): RemoteEngineRequest | undefined {
  const address = addressOf(url);
  if (!address) return undefined;
  if (address.pathname === '/') address.pathname = '/v1';
  const request: RemoteEngineRequest = {
    name: name.trim() || address.host.slice(0, 60),
    url: address.href.replace(/\/+$/, ''),
  };
  return key.trim() ? { ...request, key: key.trim() } : request;
}

/** A key over plain http can be read by everybody on the way; on this computer there is no way. */
export function sendsKeyInTheOpen({ url, key }: Fields): boolean {
  const address = addressOf(url);
  if (!address || !key.trim()) return false;
  return address.protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(address.hostname);
}

function addressOf(text: string): URL | undefined {
  const trimmed = text.trim();
  if (!trimmed || /\s/.test(trimmed)) return undefined;
  try {
    const address = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`);
    const usable = (address.protocol === 'http:' || address.protocol === 'https:') && address.hostname !== '';
    return usable && !address.username && !address.search && !address.hash ? address : undefined;
  } catch {
    return undefined;
  }
}
