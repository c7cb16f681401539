// Where a link may lead: pure decisions about addresses. A link can put words into the composer; it never sends them.
import type { ShellCommand } from '../contract/bridge';

/** True for pages of our own server: the window may go nowhere else. */
export function isOwnPage(address: string, origin: string): boolean {
  return URL.canParse(address) && new URL(address).origin === origin;
}

/** True for what may be opened in the user's browser. */
export function isExternalPage(address: string): boolean {
  return URL.canParse(address) && new URL(address).protocol === 'https:';
}

/** `hearth://chat?q=…` → a command, or undefined for anything else. */
export function parseDeepLink(address: string): ShellCommand | undefined {
  if (!URL.canParse(address)) return undefined;
  const link = new URL(address);
  if (link.protocol !== 'hearth:' || link.host !== 'chat') return undefined;
  const text = link.searchParams.get('q')?.slice(0, 10_000);
  return text ? { name: 'compose', text } : { name: 'new-chat' };
}

/** The deep link among the arguments of a second start (Windows and Linux). */
export function deepLinkOf(argv: string[]): string | undefined {
  return argv.find((argument) => argument.startsWith('hearth://'));
}
