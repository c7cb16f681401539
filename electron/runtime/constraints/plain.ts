// Constraints for models without harmony: the grammar holds from the first token on, or from the end of the thoughts that the
// prompt has opened.
import type { TokenId, Tokenizer } from '../tokenizer';
import { StreamDecoder } from '../tokenizer';
import type { Body, Constraint } from './constraint';

const THINK_END = '</think>';

export class PlainConstraint implements Constraint {
  /** The thoughts so far, as far as the end marker can still lie in them; null: they are over. */
  private thoughts: string | null;
  /** Nothing of the body has come yet, after thoughts. */
  private fresh: boolean;
  private readonly decoder = new StreamDecoder();

  /** `text`: the tokens that a thought may have. */
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly body: Body,
    private readonly text: Uint32Array,
    thinking: boolean,
  ) {
    this.thoughts = thinking ? '' : null;
    this.fresh = thinking;
  }

  mask(): Uint32Array | null {
    return this.thoughts === null ? this.body.mask() : this.text;
  }

  accept(token: TokenId): boolean {
    const text = this.decoder.push(this.tokenizer.bytes(token));
    if (this.thoughts === null) {
      // blank lines after the thoughts are no part of the body
      if (this.fresh && text !== '' && text.trim() === '') return true;
      this.fresh = false;
      return this.body.accept(token);
    }
    const tail = this.thoughts + text;
    this.thoughts = tail.includes(THINK_END) ? null : tail.slice(-THINK_END.length);
    return true;
  }

  isDone(): boolean {
    return this.body.isDone;
  }

  force(): TokenId[] {
    return [];
  }

  endThoughts(): TokenId[] {
    return this.thoughts === null ? [] : this.tokenizer.encodeTrusted(`\n${THINK_END}\n\n`);
  }

  dispose(): void {
    this.body.dispose();
  }
}
