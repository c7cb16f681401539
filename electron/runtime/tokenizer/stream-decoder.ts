// Bytes of tokens in, text out, as the bytes come: a character is held back until it is complete.
// Invalid bytes become U+FFFD, one per maximal ill-formed part (WHATWG). It knows no tokens.

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const NOTHING = new Uint8Array(0);

export class StreamDecoder {
  private held: Uint8Array = NOTHING;

  /** The longest text that is certain after `bytes`. */
  push(bytes: Uint8Array): string {
    let all = bytes;
    if (this.held.length > 0) {
      all = new Uint8Array(this.held.length + bytes.length);
      all.set(this.held);
      all.set(bytes, this.held.length);
    }
    const tail = incompleteTail(all);
    this.held = tail > 0 ? all.slice(all.length - tail) : NOTHING;
    return tail === all.length ? '' : decoder.decode(tail > 0 ? all.subarray(0, all.length - tail) : all);
  }

  /** Bytes of an incomplete character are waiting. */
  get pending(): boolean {
    return this.held.length > 0;
  }

  /** What is held, as U+FFFD; the decoder is empty afterwards. */
  end(): string {
    const rest = this.held.length > 0 ? decoder.decode(this.held) : '';
    this.held = NOTHING;
    return rest;
  }

  /** Forgets what is held: for an answer that was cut in the middle of a character. */
  drop(): void {
    this.held = NOTHING;
  }
}

/** Length (0 to 3) of a proper prefix of a valid UTF-8 sequence at the end of `bytes`. */
function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const need = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
    if (byte < 0xc2 || need <= back) return 0;
    return back >= 2 && !validSecond(byte, bytes[bytes.length - back + 1]!) ? 0 : back;
  }
  return 0;
}

function validSecond(lead: number, second: number): boolean {
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}
