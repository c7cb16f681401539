// The harmony parser behind the face of an OutputReader: which tokens were thoughts, answer or markup.
import { HarmonyParser, type HarmonyTokens } from './harmony';
import type { OutputReader, Place, Reading } from './reader';
import type { Tokenizer } from './tokenizer';

export interface HarmonyReaderOptions {
  /** Names of the functions offered. */
  tools: readonly string[];
  callId(call: number): string;
}

export class HarmonyReader implements OutputReader {
  private readonly parser: HarmonyParser;

  constructor(tokenizer: Tokenizer, control: HarmonyTokens, options: HarmonyReaderOptions) {
    this.parser = new HarmonyParser(tokenizer, control, options);
  }

  push(token: number): Reading {
    const { counts } = this.parser;
    const before = { ...counts };
    const parts = this.parser.push(token);
    const changed = (['reasoning', 'text', 'tool'] as const).find((place) => counts[place] > before[place]);
    return { parts, place: changed ?? 'markup' };
  }

  end() {
    return this.parser.finish();
  }

  get place(): Place {
    const { place } = this.parser;
    if (place === 'analysis') return 'reasoning';
    // Text before a tool call is no answer yet: thoughts may go on after it.
    return place === 'final' ? 'text' : place === 'tool' ? 'tool' : 'markup';
  }

  get calledTool(): boolean {
    return this.parser.result().toolCalls.length > 0;
  }

  beginAnswer(): readonly number[] | null {
    const forced = this.parser.forceFinal();
    return forced.length > 0 ? forced : null;
  }
}
