// Whether bytes are UTF-8 so far. Grammar engines let byte sequences through that are none.

/**
 * The incomplete character at the end of `bytes` (0 to 3 bytes), or -1 where they are no beginning of valid UTF-8
 * (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
 */
export function utf8Pending(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const lead = bytes[at]!;
    const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size === 0) return -1;
    for (let i = 1; i < size; i++) {
      if (at + i === bytes.length) return i;
      const byte = bytes[at + i]!;
      if (byte < lowest(lead, i) || byte > highest(lead, i)) return -1;
    }
    at += size;
  }
  return 0;
}

function lowest(lead: number, index: number): number {
  if (index > 1) return 0x80;
  return lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
}

function highest(lead: number, index: number): number {
  if (index > 1) return 0xbf;
  return lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
}
