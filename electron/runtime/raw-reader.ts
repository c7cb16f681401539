// Output of raw completions, whose caller wrote the whole prompt: text as it comes, with control tokens left out.
import { StreamDecoder, type Tokenizer } from './tokenizer';
import type { OutputReader, Place, Reading } from './reader';

export class RawReader implements OutputReader {
  readonly place: Place = 'text';
  readonly calledTool = false;
  readonly output = { content: '', toolCalls: [] };
  private readonly decoder = new StreamDecoder();

  constructor(private readonly tokenizer: Tokenizer) {}

  push(token: number): Reading {
    if (this.tokenizer.isControl(token)) return { parts: [], place: 'markup' };
    const delta = this.decoder.push(this.tokenizer.bytes(token));
    this.output.content += delta;
    return { parts: delta === '' ? [] : [{ channel: 'text', delta }], place: 'text' };
  }

  end() {
    this.decoder.drop();
    return [];
  }

  beginAnswer(): null {
    return null;
  }
}
