// The key to the own API: from the preload script, or once from `#token=`, kept for this tab only. Never in the address bar, never logged.
const STORED = 'hearth.token';

/** Takes `#token=` and `?q=` out of the address. Returns the text to stand in the box; it is never sent by itself. */
export function takeFromAddress(): { prefill: string } {
  const url = new URL(location.href);
  const prefill = (url.searchParams.get('q') ?? '').slice(0, 20_000);
  const match = /^#token=([^&]+)&?(.*)$/.exec(url.hash);
  if (match?.[1]) {
    rememberToken(decodeURIComponent(match[1]));
    url.hash = match[2] ?? '';
  }
  url.searchParams.delete('q');
  if (url.href !== location.href) history.replaceState(null, '', url.pathname + url.search + url.hash);
  return { prefill };
}

export function token(): string | undefined {
  return window.hearth?.token ?? sessionStorage.getItem(STORED) ?? undefined;
}

export function rememberToken(value: string): void {
  sessionStorage.setItem(STORED, value);
}

/** The key within what a person pasted: a whole address, or the key alone. */
export function tokenFromText(text: string): string | undefined {
  const trimmed = text.trim();
  const inAddress = /#token=([^&\s]+)/.exec(trimmed)?.[1];
  if (inAddress) return decodeURIComponent(inAddress);
  return /^[\w.~+/=-]{8,}$/.test(trimmed) ? trimmed : undefined;
}
