// Logprobs of visible tokens, held until their text is shown: text may wait for a stop string or for the rest of a character.
// A token whose text was cut away by a stop string never shows its logprob.
import type { TokenLogprob } from '../contract/chat';
import type { NativeTokenLogprob } from './addon';

export class LogprobQueue {
  private readonly held: { start: number; logprob: TokenLogprob }[] = [];

  /** `start`: characters of visible text that were known before this token. */
  add(start: number, logprob: TokenLogprob): void {
    this.held.push({ start, logprob });
  }

  /** Those of tokens that begin before `shown` characters. */
  release(shown: number): TokenLogprob[] {
    const released: TokenLogprob[] = [];
    while (this.held[0] && this.held[0].start < shown) released.push(this.held.shift()!.logprob);
    return released;
  }

  /** The rest, where nothing was cut. */
  releaseAll(): TokenLogprob[] {
    return this.held.splice(0).map(({ logprob }) => logprob);
  }
}

const lossy = new TextDecoder('utf-8', { ignoreBOM: true });

/** `bytes` of a token by id. */
export function describeLogprob(
  token: number,
  logprob: number,
  top: readonly NativeTokenLogprob[],
  bytes: (id: number) => Uint8Array,
): TokenLogprob {
  const one = (id: number, value: number) => {
    const raw = bytes(id);
    return { token: lossy.decode(raw), bytes: [...raw], logprob: value };
  };
  return { ...one(token, logprob), top: top.map((entry) => one(entry.token, entry.logprob)) };
}
