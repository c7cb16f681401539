// From what was asked to the model's token ids: renders, counts, drops old turns. It may take long on hostile text, so it runs in a
// thread of its own (prompt-thread.ts); it samples nothing.
import type { z } from 'zod';
import type { ChatInput, ChatMessage } from '../contract/chat';
import { HearthError } from '../contract/errors';
import type { generateInput } from '../contract/runtime';
import { harmonyTokens, renderChat, type HarmonyTokens } from './harmony';
import { ChatTemplate } from './templates';
import type { Tokenizer } from './tokenizer';
import { fitTurns } from './turn-dropping';

export type GenerateInput = z.output<typeof generateInput>;

export interface PromptJob {
  input: GenerateInput;
  /** Tokens that the prompt may have; one more is `context_length_exceeded`. */
  maxTokens: number;
  keepTurns?: number;
  /** Drop the oldest turns so that this many tokens are enough; absent: drop none for want of room. */
  fitTokens?: number;
  /** The prompt as text, too. */
  wantText?: boolean;
}

export interface Prompt {
  tokens: ArrayLike<number>;
  droppedTurns: number;
  /** Prompt lengths at which a later prompt of the same chat may go another way. */
  cutPoints?: number[];
  /** The prompt ends inside a thought: the answer begins with its rest. */
  opensThought?: boolean;
  text?: string;
}

export class PromptMaker {
  private readonly control: HarmonyTokens | null;
  /** Made when first needed: a bad one fails the chat and not the load. */
  private template: ChatTemplate | undefined;

  constructor(private readonly tokenizer: Tokenizer) {
    this.control = harmonyTokens(tokenizer);
  }

  /** Throws HearthError{context_length_exceeded | invalid_request | unsupported_template}. */
  make(job: PromptJob): Prompt {
    const prompt = this.build(job);
    const length = prompt.tokens.length;
    if (length === 0) throw new HearthError('invalid_request', 'The prompt is empty.', { param: 'prompt' });
    if (length > job.maxTokens) {
      const message = `The prompt has ${length} tokens; this model holds ${job.maxTokens + 1} with at least one for the answer.`;
      throw new HearthError('context_length_exceeded', message, { needed: length + 1, available: job.maxTokens + 1 });
    }
    return job.wantText ? { ...prompt, text: this.textOf(job.input, prompt.tokens) } : prompt;
  }

  tokenize(text: string): number[] {
    return this.tokenizer.encode(text);
  }

  private build(job: PromptJob): Prompt {
    const { input } = job;
    switch (input.kind) {
      case 'tokens':
        return { tokens: this.checked(input.tokens), droppedTurns: 0 };
      case 'text':
        return { tokens: this.raw(input.text), droppedTurns: 0 };
      case 'chat':
        return this.chat(input.chat, job);
    }
  }

  private chat(chat: ChatInput, job: PromptJob): Prompt {
    const { keepTurns, fitTokens } = job;
    const limits = {
      ...(keepTurns !== undefined && { keepTurns }),
      ...(fitTokens !== undefined && { maxTokens: fitTokens }),
    };
    const { value, droppedTurns } = fitTurns(
      chat.messages,
      limits,
      (messages: ChatMessage[]) => this.render({ ...chat, messages }),
      (rendered) => rendered.tokens.length,
    );
    return { ...value, droppedTurns };
  }

  private render(chat: ChatInput): { tokens: number[]; cutPoints: number[]; opensThought?: boolean } {
    if (this.control) return renderChat(chat, this.tokenizer, this.control);
    this.template ??= new ChatTemplate(this.tokenizer);
    return this.template.render(chat);
  }

  /** The caller writes the whole prompt, markup included: there is no user's text to keep apart from it. */
  private raw(text: string): number[] {
    const ids = this.tokenizer.encodeTrusted(text);
    const { addBos, bos } = this.tokenizer;
    return addBos && ids[0] !== bos ? [bos, ...ids] : ids;
  }

  private checked(tokens: number[]): number[] {
    const bad = tokens.find((token) => token >= this.tokenizer.size);
    if (bad === undefined) return tokens;
    throw new HearthError('invalid_request', `There is no token ${bad} in this model's vocabulary.`, {
      param: 'prompt',
    });
  }

  private textOf(input: GenerateInput, tokens: ArrayLike<number>): string {
    return input.kind === 'text' ? input.text : this.tokenizer.decode(Array.from(tokens), { control: true });
  }
}
