// Which names a request may call this server by. A page that points its own name at 127.0.0.1 (DNS rebinding) sends that name here.
// Pure functions.

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d{1,5}))?$/i;

/** Whether `host`, the value of a Host header, is this computer's loopback, with any port or none. */
export function isLoopbackHost(host: string | undefined): boolean {
  const match = host === undefined ? null : LOOPBACK.exec(host);
  if (!match) return false;
  return match[1] === undefined || Number(match[1]) <= 65_535;
}

/** Whether a socket's own address is this computer's loopback. One that is not known is not. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

/** Several Host headers, or none, are nobody's honest request. */
export function hostOf(rawHeaders: readonly string[]): string | undefined {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
  return hosts.length === 1 ? hosts[0] : undefined;
}
