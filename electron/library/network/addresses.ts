// What an address is, before anything is sent to it: on this machine or not, and where a redirect may lead. Pure functions.
import { isIP } from 'node:net';
import { HearthError } from '../../contract/errors';

/** Loopback by its name or number. A name that only resolves to loopback is not: nobody looks it up to find out. */
export function isLocalHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(host);
}

/** Throws HearthError{hub_failed} where an answer leads from the net to this machine, from https to http, or to another kind of address. */
export function redirectTarget(from: URL, location: string): URL {
  const refuse = (why: string) => new HearthError('hub_failed', `${from.host} redirects ${why}.`);
  let to: URL;
  try {
    to = new URL(location, from);
  } catch {
    throw refuse('to an address that is none');
  }
  if (to.protocol !== 'https:' && to.protocol !== 'http:') throw refuse('to another kind of address');
  if (from.protocol === 'https:' && to.protocol === 'http:') throw refuse('to an address without encryption');
  if (isLocalHost(to.hostname) && !isLocalHost(from.hostname)) throw refuse('to this machine');
  return to;
}

/** The origin of a hub or mirror as somebody may have typed it. Throws HearthError{invalid_request}. */
export function hubOrigin(typed: string): string {
  const text = typed.trim();
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url.origin + url.pathname.replace(/\/+$/, '');
  } catch {
    // Told below.
  }
  throw new HearthError('invalid_request', `"${text.slice(0, 100)}" is no address of a hub.`, { param: 'hubMirror' });
}
