// A parser of a chat format behind the face of an OutputReader: which tokens were thoughts, answer or markup.
import type { OutputReader, Place, Reading } from './reader';
import type { OutputParser } from './text';

export class ParserReader implements OutputReader {
  constructor(private readonly parser: OutputParser) {}

  push(token: number): Reading {
    const before = { ...this.parser.counts };
    const parts = this.parser.push(token);
    const { counts } = this.parser;
    const changed = (['reasoning', 'text', 'tool'] as const).find((place) => counts[place] > before[place]);
    return { parts, place: changed ?? 'markup' };
  }

  end() {
    return this.parser.finish();
  }

  get place(): Place {
    const { place } = this.parser;
    if (place === 'analysis') return 'reasoning';
    if (place === 'tool') return 'tool';
    // Text before a tool call is no answer yet: thoughts may go on after it.
    return place === 'final' ? 'text' : 'markup';
  }

  get calledTool(): boolean {
    return this.parser.result().toolCalls.length > 0;
  }

  get output() {
    return this.parser.result();
  }

  beginAnswer(): readonly number[] | null {
    const forced = this.parser.forceFinal();
    return forced.length > 0 ? forced : null;
  }
}
