// Which pages may talk to this server from a browser. Pure functions over header values.

export interface OriginRules {
  /** The port this server listens on. */
  port: number;
  /** From the settings: exact origins, as browsers write them. */
  allowed: readonly string[];
}

export type OriginKind =
  /** No page, or none that says so: a program, a typed address. */
  | 'none'
  /** The page that this server serves. */
  | 'own'
  /** A page that the user allowed. */
  | 'allowed'
  | 'foreign';

const OWN_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** As a browser would write it, or undefined where it is no origin. */
export function normalOrigin(text: string): string | undefined {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+\/?$/i.test(text)) return undefined;
  try {
    const { origin } = new URL(text);
    return origin === 'null' ? text.replace(/\/$/, '').toLowerCase() : origin;
  } catch {
    return undefined;
  }
}

export function originKind(origin: string | undefined, { port, allowed }: OriginRules): OriginKind {
  if (origin === undefined) return 'none';
  if (OWN_HOSTS.some((host) => origin === `http://${host}:${port}`)) return 'own';
  return allowed.some((entry) => normalOrigin(entry) === origin) ? 'allowed' : 'foreign';
}

/** A page of another site that fetches without saying its origin (images, scripts, no-cors requests). Opening a link is no such thing. */
export function isHiddenCrossSite(headers: { 'sec-fetch-site'?: unknown; 'sec-fetch-mode'?: unknown }): boolean {
  const site = headers['sec-fetch-site'];
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-mode'] !== 'navigate';
}
