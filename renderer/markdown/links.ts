// Which addresses in an answer may be followed: https only. Pictures are never fetched; only where they would come from is told.

/** The address, cleaned, or undefined where it may not be followed. */
export function safeLink(href: string | undefined): string | undefined {
  if (!href) return undefined;
  try {
    const url = new URL(href);
    return url.protocol === 'https:' && !url.username && !url.password ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** For a link that is not followed: shown as text if it is an ordinary web address, else nothing. */
export function plainAddress(href: string | undefined): string | undefined {
  return href && /^http:\/\/[^\s]{1,300}$/i.test(href) ? href : undefined;
}

/** Origin of a picture's address; undefined: it is data within the text, or nonsense. */
export function pictureOrigin(src: string | undefined): string | undefined {
  try {
    const url = new URL(src ?? '');
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
