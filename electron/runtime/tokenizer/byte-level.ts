// The byte alphabet of GPT-2's byte-level BPE: every byte has one printable character.
// It knows no vocabulary.

/** Character code of byte b: printable Latin-1 stays, the rest is moved to U+0100 and on. (GPT-2's bytes_to_unicode.) */
export const BYTE_TO_CODE: Readonly<Uint16Array> = (() => {
  const table = new Uint16Array(256);
  let next = 256;
  for (let b = 0; b < 256; b++) {
    const printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    table[b] = printable ? b : next++;
  }
  return table;
})();

/** The way back: byte + 1 by character code, 0 where the character stands for no byte. */
const CODE_TO_BYTE_PLUS_1: Readonly<Uint16Array> = (() => {
  const table = new Uint16Array(0x144);
  BYTE_TO_CODE.forEach((code, byte) => (table[code] = byte + 1));
  return table;
})();

/** The byte that a character of the alphabet stands for, or -1. */
export function byteOfCode(code: number): number {
  return code < 0x144 ? CODE_TO_BYTE_PLUS_1[code]! - 1 : -1;
}

export function bytesToAlphabet(bytes: Uint8Array): string {
  let text = '';
  for (const b of bytes) text += String.fromCharCode(BYTE_TO_CODE[b]!);
  return text;
}
