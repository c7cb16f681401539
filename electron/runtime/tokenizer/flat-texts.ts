// Hundreds of thousands of byte strings as two arrays: the native reader hands them over so, threads copy them at memory speed,
// and nobody makes a string of a token that is not asked for. It knows nothing of tokens.

/** Text i has the bytes [ends[i - 1], ends[i]), the first from 0. */
export interface FlatTexts {
  bytes: Uint8Array;
  ends: Uint32Array;
}

const encoder = new TextEncoder();
const lossy = new TextDecoder('utf-8', { ignoreBOM: true });

/** The same of a list of strings, or of raw bytes where these are no valid UTF-8. */
export function flatTexts(texts: readonly (string | Uint8Array)[] | FlatTexts): FlatTexts {
  if ('ends' in texts) return texts;
  const ends = new Uint32Array(texts.length);
  let bytes = new Uint8Array(texts.length * 8 + 64);
  let at = 0;
  texts.forEach((text, i) => {
    if (bytes.length < at + text.length * 3) {
      const larger = new Uint8Array(bytes.length * 2 + text.length * 3);
      larger.set(bytes);
      bytes = larger;
    }
    if (typeof text === 'string') at += encoder.encodeInto(text, bytes.subarray(at)).written;
    else {
      bytes.set(text, at);
      at += text.length;
    }
    ends[i] = at;
  });
  return { bytes: bytes.slice(0, at), ends };
}

export function startOf({ ends }: FlatTexts, index: number): number {
  return index === 0 ? 0 : ends[index - 1]!;
}

/** Invalid bytes become U+FFFD. */
export function textAt(texts: FlatTexts, index: number): string {
  return lossy.decode(texts.bytes.subarray(startOf(texts, index), texts.ends[index]));
}
